/**
 * The console in a real browser, over the local world: real clicks, real pushes, a partner that counts. It takes some 40
 * seconds on two cores, and is left out where there is no Chromium.
 */
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { silentTelemetry } from '../../functions/adapters/telemetry.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { demoWorldOptions } from '../../infra/local/demo/options.ts';
import { Stage } from '../../infra/local/demo/stage.ts';
import { type LocalWorld, openWorld } from '../../infra/local/world.ts';
import { deliverMessage } from '../support/world.ts';
import { browserPath, openBrowser } from './browser.ts';

const TOKEN = 'test-admin-token-0123456789';
const CHROMIUM = browserPath();
if (CHROMIUM === undefined) {
  process.stderr.write('console in a browser: left out, there is no Chromium (set CHROMIUM, or install chromium)\n');
}

/** The rules of axe (https://github.com/dequelabs/axe-core), as its one script for a page. */
const AXE = axe.source;

const findings = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.nullish(z.string()), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

describe.skipIf(CHROMIUM === undefined)('the console in a browser', () => {
  let world: LocalWorld;
  let stage: Stage;
  let browser: Browser;
  /** While it is on, what is published is lost without a trace. */
  const losing = { on: false };
  const losingPublishes = (ports: Receiver): Receiver => ({
    ...ports,
    queue: {
      limits: ports.queue.limits,
      publish: async (publication) =>
        losing.on ? { kind: 'published', messageId: 'lost' } : ports.queue.publish(publication),
    },
  });
  /** Errors of the browser's console: a script that broke, a policy that was violated, a file that was not there. */
  const complaints: string[] = [];

  beforeAll(async () => {
    // Without sweeps: whatever moves is moved by a push, or by a person.
    world = await openWorld({
      ...demoWorldOptions(TOKEN, silentTelemetry),
      tickMs: 3_600_000,
      reshape: losingPublishes,
    });
    stage = new Stage(world.url, TOKEN, world.partner, world.url);
    browser = await openBrowser(CHROMIUM ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const visit = async (options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
    const context: BrowserContext = await browser.newContext(options);
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        complaints.push(`${page.url()}: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(world.url)) complaints.push(`asked elsewhere: ${request.url()}`);
    });
    await page.goto(`${world.url}/console`);
    await page.fill('input[name=token]', TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return page;
  };

  const seriousIn = async (page: Page): Promise<readonly string[]> => {
    await page.evaluate(AXE);
    const { violations } = z.parse(findings, await page.evaluate('axe.run(document)'));
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${page.url()}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  };

  it('finds a quarantined delivery, reads its timeline, redrives it with a reason and sees it delivered', async () => {
    const partner = await stage.destination('fragile', { repeatSafe: true, schedule: [] });
    world.partner.script('fragile', [{ status: 500 }, { status: 200 }]);
    await stage.submit('order-1', 'fragile');
    await stage.until('order-1', 'fragile', ({ status }) => status === 'quarantined');

    const page = await visit();
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await page.getByRole('link', { name: 'order-1' }).click();
    await page.getByRole('img', { name: /^Timeline of this delivery/ }).waitFor();
    expect(await page.locator('.answers').textContent()).toContain('all attempts are spent');

    await page.getByRole('link', { name: 'Redrive', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It becomes pending and is due at once').waitFor();
    expect(await seriousIn(page)).toEqual([]);
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('they have mended it');
    await dialog.getByRole('button', { name: 'Redrive once' }).click();
    await page.getByText('Redriven: it is due now.').waitFor();
    // Without a hand on the page: it keeps itself fresh.
    await page.locator('dl .state.good', { hasText: 'delivered' }).waitFor();
    expect(await page.locator('ol.journal').textContent()).toContain('they have mended it');
    expect(partner.requests.length).toBe(2);
    await page.context().close();
  });

  it('pauses and resumes a destination, and needs no script for it', async () => {
    await stage.destination('calm', { repeatSafe: true });
    const page = await visit({ javaScriptEnabled: false });
    await page.goto(`${world.url}/console/destinations/calm`);
    await page.getByRole('link', { name: 'Pause', exact: true }).click();
    await page.getByRole('textbox', { name: /^Reason/ }).fill('their maintenance');
    await page.getByRole('button', { name: 'Pause it' }).click();
    await page.getByText('Paused: what becomes due is parked from now on.').waitFor();
    await stage.submit('waits-1', 'calm');
    await stage.until('waits-1', 'calm', ({ reason }) => reason === 'paused');
    await page.getByRole('link', { name: 'Resume' }).click();
    await page.getByText('1 parked deliveries go on').waitFor();
    await page.getByRole('textbox', { name: /^Reason/ }).fill('they are done');
    await page.getByRole('button', { name: 'Resume it' }).click();
    await page.getByText('Resumed:').waitFor();
    await stage.until('waits-1', 'calm', ({ status }) => status === 'delivered');
    await page.context().close();
  });

  it('plans and runs a redrive of 30 dead letters, and sees its progress without a hand on the page', async () => {
    const partner = await stage.destination('back', { repeatSafe: true });
    losing.on = true;
    for (let n = 0; n < 30; n += 1) {
      await stage.submit(`dead-${n}`, 'back');
      await world.queue.deadLetter(JSON.stringify(deliverMessage(`dead-${n}`, 'back')));
    }
    losing.on = false;

    const page = await visit();
    await page.goto(`${world.url}/console/redrives`);
    await page.getByRole('link', { name: 'Plan a redrive' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('they are back');
    await dialog.getByRole('button', { name: 'Make the plan' }).click();
    await page.getByRole('heading', { name: 'What a run would do' }).waitFor();
    expect(await page.locator('main').textContent()).toContain('30 in the plan');
    await page.getByRole('link', { name: 'Run it' }).click();
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('the plan is right');
    await dialog.getByRole('button', { name: 'Run it once' }).click();
    await page.getByRole('heading', { name: /^Result/ }).waitFor({ timeout: 60_000 });
    expect(await page.locator('main').textContent()).toContain('30 of 30 acted on');
    expect(new Set(partner.requests.map(({ key }) => key)).size).toBe(30);
    await page.context().close();
  });

  it('runs a drill, and judges it by the effects that were counted', async () => {
    const partner = await stage.destination('drilled', { repeatSafe: true });
    const page = await visit();
    await page.goto(`${world.url}/console/destinations/drilled`);
    await page.getByRole('link', { name: 'Prove', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It gets up to 10 test requests').waitFor();
    expect(await seriousIn(page)).toEqual([]);
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('before we go live');
    await dialog.getByRole('button', { name: 'Run the drill' }).click();
    await page.locator('.state.wait', { hasText: 'not shown' }).waitFor();
    expect(partner.requestCount).toBe(10);
    expect(await seriousIn(page)).toEqual([]);
    for (const part of ['repeat', 'twins', 'late']) {
      const key =
        (await page
          .locator('tr', { hasText: `~${part}` })
          .locator('small.id')
          .textContent()) ?? '';
      const effects = partner.effects.filter((effect) => effect.key === key.trim()).length;
      await page.getByLabel(`Effects of ${part}`).fill(String(effects));
    }
    await page.getByRole('button', { name: 'Judge with these effects' }).click();
    await page.locator('.state.good', { hasText: 'a repeat is safe: shown' }).waitFor();
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('has nothing serious for axe on any page, in %s', async (colorScheme) => {
    const page = await visit({ colorScheme });
    await page.goto(`${world.url}/console/redrives`);
    const redrive = (await page.locator('td.lead a').first().getAttribute('href')) ?? '';
    const pages = [
      '',
      '/deliveries?list=open',
      '/deliveries?list=recent&destination=back',
      '/quarantine',
      '/events/order-1',
      '/events/order-1/deliveries/fragile',
      '/events/waits-1/deliveries/calm',
      '/destinations',
      '/destinations/back',
      '/destinations/back/pause',
      '/redrives',
      '/redrives/new',
      redrive.replace('/console', ''),
      '/audit',
    ];
    const serious: string[] = [];
    for (const path of pages) {
      await page.goto(`${world.url}/console${path}`);
      serious.push(...(await seriousIn(page)));
    }
    expect(serious).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of pages) {
      await page.goto(`${world.url}/console${path}`);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect([path, await page.evaluate(overflow)]).toEqual([path, 0]);
    }
    await page.context().close();
  });

  it('has had nothing for the browser to complain about', () => {
    expect(complaints).toEqual([]);
  });
});
