/** Text of strangers on the pages, and what must be on none of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withHiddenShown } from '../../functions/core/hidden.ts';
import { SCRIPT } from '../../functions/operator/console/script.ts';
import { linksIn, signedIn, unescaped, type Visitor, wordsIn } from '../support/console.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  'a/b%2Fc?d#e&f=g;h+i j',
  '%',
  '%00',
  '../../v1/stats',
  'javascript:alert(1)',
  `{{7*7}}$${'{7*7}'}\``,
  '&lt;b&gt;&amp;',
  'abc\u202egpj.exe',
  'zero\u200bwidth\ufeff',
  'سلام עולם',
  '\u2028line\u2029',
  'e\u0301\u{1f468}\u200d\u{1f469}',
] as const;

/** Quarantined, with an id, a destination and an answer of this text. */
const worldWith = async (text: string): Promise<{ world: TestWorld; visitor: Visitor; at: string }> => {
  const world = openTestWorld();
  await world.destination(text, { schedule: [] });
  world.sender.script(answered(500, { excerpt: `they said ${text}` }));
  await world.submit({ id: text, type: 'order.paid', payload: { text }, destinations: [text] });
  await world.deliver(text, text);
  const visitor = await signedIn(world, world.token('admin'));
  return { world, visitor, at: `/console/events/${encodeURIComponent(text)}/deliveries/${encodeURIComponent(text)}` };
};

const pagesAbout = (at: string): readonly string[] => [
  '/console',
  '/console/quarantine',
  at,
  `${at}/redrive`,
  `${at}/resolve`,
  at.replace(/\/deliveries\/.*/, ''),
  at.replace(/.*\/deliveries\//, '/console/destinations/'),
  `${at.replace(/.*\/deliveries\//, '/console/destinations/')}/pause`,
  at.replace(/.*\/deliveries\//, '/console/deliveries?list=recent&destination='),
];

/** Every tag of the page is one that a page has without it: nothing of the text has become markup. */
const tagsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/<\/?([a-z!][a-z0-9]*)/gi)].map(([, tag = '']) => tag));

const eventHandler = /<[^>]*\son[a-z]+\s*=/i;
/** A field holds what was typed, byte for byte; everything else is for reading. */
const shownIn = (text: string): string => text.replaceAll('\n', '').replace(/ value="[^"]*"/g, '');
const notShown = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('text of strangers', () => {
  it.each(HOSTILE)('%j is text on every page, and its links lead to it', async (text) => {
    const plain = await worldWith('plain');
    const { visitor, at } = await worldWith(text);
    for (const [index, path] of pagesAbout(at).entries()) {
      const page = await visitor.get(path);
      expect([path, page.status]).toEqual([path, 200]);
      const twin = await plain.visitor.get(pagesAbout(plain.at)[index] ?? '');
      expect([path, [...tagsIn(page.text)].filter((tag) => !tagsIn(twin.text).has(tag) && tag !== 'span')]).toEqual([
        path,
        [],
      ]);
      // Attributes that are quoted cannot be left, so what looks like a handler inside of one is text.
      expect(page.text.replace(/="[^"]*"/g, '=""')).not.toMatch(eventHandler);
      expect(shownIn(page.text)).not.toMatch(notShown);
      if (path !== '/console') expect(wordsIn(page.text)).toContain(wordsOf(text));
    }
    const links = linksIn((await visitor.get('/console/quarantine')).text);
    expect(links).toContain(at);
    expect((await visitor.get(at)).status).toBe(200);
  });

  it('is found by the field at the top, byte for byte', async () => {
    for (const text of HOSTILE) {
      const { visitor } = await worldWith(text);
      const found = await visitor.get(`/console/find?event=${encodeURIComponent(text)}`);
      const page = await visitor.get(found.location ?? '');
      expect([text, page.status]).toEqual([text, 200]);
    }
  });

  it('in reasons of people is text where they are shown', async () => {
    for (const text of HOSTILE.filter((one) => !/\p{Cc}/u.test(one))) {
      const { visitor, at } = await worldWith('plain');
      const done = await visitor.submit(await visitor.get(`${at}/cancel`), `${at}/cancel`, { reason: text });
      expect([text, done.status]).toEqual([text, 303]);
      for (const path of [at, '/console', '/console/audit']) {
        const page = await visitor.get(path);
        expect(wordsIn(page.text)).toContain(wordsOf(text));
        expect(shownIn(page.text)).not.toMatch(notShown);
        expect(page.text).not.toContain('<img src=x');
      }
    }
  });

  it('of ten kilobytes in one word is refused where a person types it, and breaks no page', async () => {
    const word = 'x'.repeat(10_240);
    const { visitor, at } = await worldWith('plain');
    const refused = await visitor.submit(await visitor.get(`${at}/cancel`), `${at}/cancel`, { reason: word });
    expect(refused.status).toBe(422);
    expect((await visitor.get(`/console/find?event=${word}`)).status).toBe(422);
    expect((await visitor.get(`/console/deliveries?list=parked&destination=${word}`)).status).toBe(422);
    expect((await visitor.get(`/console/redrives/${word}`)).text).not.toContain(word);
    const long = 'y'.repeat(256);
    expect((await (await worldWith(long)).visitor.get('/console/quarantine')).status).toBe(200);
  });

  it('of any kind, in a form that is refused, comes back as the value of its field and as nothing else', async () => {
    const { visitor, at } = await worldWith('plain');
    const page = await visitor.get(`${at}/resolve`);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        const again = await visitor.submit(page, `${at}/resolve`, {
          as: 'nonsense',
          evidence: text,
          reason: 'because',
        });
        expect(again.status).toBe(422);
        expect([...tagsIn(again.text)].filter((tag) => !tagsIn(page.text).has(tag))).toEqual([]);
        const [, value = ''] = /name="evidence"[^>]*?value="([^"]*)"/s.exec(again.text) ?? [];
        expect(unescaped(value)).toBe(new URLSearchParams([['a', text]]).get('a')?.toWellFormed());
      }),
      { numRuns: 40 },
    );
  });
});

const wordsOf = (text: string): string => withHiddenShown(text).replace(/\s+/g, ' ');

describe('what is secret', () => {
  it('is on no page: tokens, signing secrets, headers of a destination, payloads', async () => {
    const world = openTestWorld();
    const secrets = ['SECRET-IN-A-HEADER', 'SECRET-IN-A-PAYLOAD', world.token('admin')];
    const signingSecret = `whsec_${Buffer.from('SECRET-TO-SIGN-WITH-0123456789ab').toString('base64')}`;
    await world.destination('partner', {
      schedule: [],
      signingSecret,
      headers: { authorization: `Bearer ${secrets[0]}` },
    });
    world.sender.script(answered(500));
    await world.submit({ id: 'order-1', payload: { card: secrets[1] }, destinations: ['partner'] });
    await world.deliver('order-1', 'partner');
    const visitor = await signedIn(world, world.token('admin'));
    for (const path of [
      ...pagesAbout('/console/events/order-1/deliveries/partner'),
      '/console/audit',
      '/console/redrives',
    ]) {
      const { text } = await visitor.get(path);
      for (const secret of [...secrets, signingSecret, signingSecret.slice(6)]) {
        expect([path, secret, text.includes(secret)]).toEqual([path, secret, false]);
      }
    }
    const logged = JSON.stringify(world.telemetry.lines);
    for (const secret of [...secrets, signingSecret]) expect(logged).not.toContain(secret);
  });
});

describe('the script', () => {
  it('can be read by a browser, and puts nothing into a page but nodes of a page of ours', () => {
    expect(() => new Function(SCRIPT)).not.toThrow();
    expect(SCRIPT).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/);
  });
});

describe('reads', () => {
  const fill = async (count: number): Promise<TestWorld> => {
    const world = openTestWorld();
    await world.destination('partner', { schedule: [] });
    await world.destination('shut');
    world.sender.always(answered(500));
    for (let n = 0; n < count; n += 1) {
      await world.accepted(`held-${n}`, 'partner');
      await world.deliver(`held-${n}`, 'partner');
      await world.accepted(`open-${n}`, 'shut');
    }
    return world;
  };

  it('of every view stay the same, whether there are seventy deliveries or three hundred', async () => {
    const asked = async (world: TestWorld): Promise<Readonly<Record<string, number>>> => {
      const visitor = await signedIn(world, world.token('admin'));
      const counts: Record<string, number> = {};
      const at = '/console/events/held-1/deliveries/partner';
      for (const path of [
        ...pagesAbout(at),
        '/console/deliveries?list=open',
        '/console/deliveries?list=parked',
        '/console/audit',
      ]) {
        const before = world.asked.length;
        expect((await visitor.get(path)).status).toBe(200);
        counts[path] = world.asked.length - before;
      }
      return counts;
    };
    const few = await asked(await fill(70));
    expect(await asked(await fill(300))).toEqual(few);
    expect(Math.max(...Object.values(few))).toBeLessThan(80);
  });
});
