/** `onceward event send | show | replay` */

import type { Command } from 'commander';
import { commandLine } from '../../../core/command-line.ts';
import { acceptedAnswer, eventAnswer, replayAnswer } from '../../contract/deliveries.ts';
import { type Call, path } from '../client.ts';
import { fileBytes } from '../file.ts';
import { answer, heading, pairs, shortTime } from '../print.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop, USAGE } from '../stop.ts';
import {
  type Changing,
  type Common,
  carryOut,
  changing,
  type Deciding,
  deciding,
  decisionCall,
  get,
  looking,
  readAs,
} from '../verb.ts';
import { lines, said } from '../visible.ts';
import { deliveryTable } from './delivery-table.ts';

interface SendOptions extends Changing {
  readonly id: string;
  readonly to: readonly string[];
  readonly payload?: string;
  readonly file?: string;
  readonly contentType?: string;
  readonly type?: string;
  readonly deliverAt?: string;
}

interface ReplayOptions extends Deciding {
  readonly to?: readonly string[];
}

export const addEvent = (program: Command, shell: Shell): void => {
  const noun = program.command('event').description('what happened, and where it must go');
  changing(noun, 'send', 'accept an event once, for one or more destinations; the same again changes nothing')
    .requiredOption('--id <id>', 'your id of it: the same id again is the same event')
    .requiredOption('--to <destination...>', 'where it must go, up to ten')
    .option('--payload <json>', 'its content, sent byte for byte')
    .option('--file <path>', 'a file with its content; - is standard input')
    .option('--content-type <type>', 'of a content that is no JSON, such as text/plain')
    .option('--type <type>', 'what kind of event it is')
    .option('--deliver-at <when>', 'not before then: RFC 3339 with an offset, or epoch milliseconds')
    .action((options: SendOptions) => send(shell, options));
  looking(noun, 'show <event>', 'the event and its deliveries').action((event: string, options: Common) =>
    show(shell, event, options),
  );
  deciding(noun, 'replay <event>', 'send what was delivered once more, as a new event linked to this one')
    .option('--to <destination...>', 'only there (default: everywhere it was delivered)')
    .action((event: string, options: ReplayOptions) => replay(shell, event, options));
};

const send = async (shell: Shell, options: SendOptions): Promise<void> => {
  const content = await contentOf(shell, options);
  const { id, type, to: destinations } = options;
  const deliverAt = options.deliverAt === undefined ? undefined : instant(options.deliverAt);
  // The payload keeps its own bytes: parsed and written again, 12.50 would become 12.5.
  const rest = JSON.stringify({ id, type, destinations, deliverAt, ...content.members });
  const rawBody = content.json === undefined ? rest : `${rest.slice(0, -1)},"payload":${content.json}}`;
  const call: Call = { method: 'POST', path: '/v1/events', rawBody, face: 'intake', repeatable: true };
  await carryOut(shell, options, {
    plan: async () => said`Event ${id} (${content.bytes} bytes) goes to ${destinations.join(', ')}.`,
    call,
    show: (body) => {
      const { event, acceptedAt, deliveries } = readAs(acceptedAnswer, body);
      const follow = deliveries.map(
        ({ destination }) => said`  ${commandLine('delivery explain', [event, destination])}`,
      );
      return lines(said`Event ${event} is in the ledger since ${acceptedAt}. What becomes of it:`, ...follow);
    },
  });
};

interface Content {
  readonly bytes: number;
  /** The text of a JSON payload, as it came. */
  readonly json?: string;
  readonly members?: Readonly<Record<string, string>>;
}

const contentOf = async (shell: Shell, { payload, file, contentType }: SendOptions): Promise<Content> => {
  if ((payload === undefined) === (file === undefined)) throw new Stop(USAGE, 'give --payload or --file, one of them');
  const bytes = payload === undefined ? await fileBytes(shell, file ?? '-') : Buffer.from(payload, 'utf8');
  if (contentType !== undefined) {
    return {
      bytes: bytes.byteLength,
      members: { payloadBase64: Buffer.from(bytes).toString('base64'), contentType },
    };
  }
  return { bytes: bytes.byteLength, json: jsonText(bytes) };
};

const jsonText = (bytes: Uint8Array): string => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Stop(USAGE, `the content is no JSON (${why}); for anything else say --content-type`);
  }
};

/** Epoch milliseconds are a number; everything else is for the server to read. */
const instant = (text: string): string | number => (/^\d{10,16}$/.test(text) ? Number(text) : text);

const show = async (shell: Shell, event: string, options: Common): Promise<void> => {
  const body = await get(shell, path`/v1/events/${event}`);
  answer(shell, options, body, () => {
    const shown = readAs(eventAnswer, body);
    const about = pairs(shell, {
      type: shown.type,
      accepted: shortTime(shown.acceptedAt),
      'deliver at': shortTime(shown.deliverAt),
      source: shown.source,
      'replay of': shown.replayOf,
      payload: `${shown.payloadBytes} bytes, ${shown.contentType}, SHA-256 ${shown.payloadHash}`,
      conflicts: shown.conflicts === 0 ? undefined : `${shown.conflicts}: other content was sent under this id`,
    });
    return lines(heading(shell, `event ${shown.event}`), about, '', deliveryTable(shell, shown.deliveries));
  });
};

const replay = (shell: Shell, event: string, options: ReplayOptions): Promise<void> =>
  carryOut(shell, options, {
    plan: async () => {
      const shown = readAs(eventAnswer, await get(shell, path`/v1/events/${event}`));
      const delivered = shown.deliveries.filter(({ status }) => status === 'delivered');
      const to = options.to ?? delivered.map(({ destination }) => destination);
      if (to.length === 0)
        throw new Stop(FAILED, `nothing of event ${event} was delivered, so there is nothing to replay`);
      return said`A new event with the payload of ${event} goes to ${to.join(', ')}: a second effect is meant.`;
    },
    call: decisionCall(shell, options, {
      method: 'POST',
      path: path`/v1/events/${event}/replay`,
      ...(options.to === undefined ? {} : { body: { destinations: options.to } }),
    }),
    show: (body) => {
      const made = readAs(replayAnswer, body);
      return said`Event ${made.event} was made from ${made.replayOf} (decision ${made.decision}).`;
    },
  });
