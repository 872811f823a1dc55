/**
 * What a deployment can choose. The same settings are properties of the construct and, as context, of the stack that
 * `cdk.json` deploys alone: `npm run deploy -- -c transport=both -c alarmEmail=ops@example.com`.
 */
import type { Node } from 'constructs';
import { CROWDED_PLACES } from '../../functions/core/limits.ts';

export const TRANSPORTS = ['sqs', 'infrai', 'both'] as const;
export const TICKS = ['schedule', 'transport'] as const;

export interface OncewardProps {
  /**
   * `sqs`: a queue in this account. `infrai`: pushes come to a public URL. `both`: what Onceward publishes itself goes
   * through SQS, and pushes of Infrai are received as well.
   * @default 'sqs'
   */
  readonly transport?: (typeof TRANSPORTS)[number];
  /**
   * What calls the reconciler every minute: an EventBridge schedule, or the cron of a push transport, which needs a
   * public URL.
   * @default 'schedule'
   */
  readonly tick?: (typeof TICKS)[number];
  /** The name of the queue on Infrai; wanted exactly where that transport is on. */
  readonly infraiQueue?: string;
  /** @default the public address of Infrai */
  readonly infraiUrl?: string;
  /** Who gets the alarms; without one they only change their state. */
  readonly alarmEmail?: string;
  /**
   * Invocations of the receiver at a time, 6 to 1,000: what bounds the load on ledger and destinations.
   * @default 20
   */
  readonly receiverConcurrency?: number;
  /**
   * For a trial: the table goes when the stack goes, and nothing protects it from being deleted.
   * @default false
   */
  readonly disposable?: boolean;
}

export interface Settings extends Required<Omit<OncewardProps, 'infraiQueue' | 'infraiUrl' | 'alarmEmail'>> {
  readonly infrai?: { readonly queue: string; readonly url?: string };
  readonly alarmEmail?: string;
}

export const usesSqs = ({ transport }: Pick<Settings, 'transport'>): boolean => transport !== 'infrai';
export const usesInfrai = ({ transport }: Pick<Settings, 'transport'>): boolean => transport !== 'sqs';

/** More than one destination may hold while it does not answer in time: it must not take the receiver from all others. */
const CONCURRENCY_MIN = CROWDED_PLACES + 1;
const CONCURRENCY_MAX = 1_000;
const CONCURRENCY_DEFAULT = 20;

/** A setting that cannot be: its name, what is wrong with it and what to do. */
export class SettingError extends Error {}

/** Throws SettingError. */
export const settingsOf = (props: OncewardProps): Settings => {
  const settings = {
    transport: oneOf('transport', TRANSPORTS, props.transport ?? 'sqs'),
    tick: oneOf('tick', TICKS, props.tick ?? 'schedule'),
    receiverConcurrency: concurrencyOf(props.receiverConcurrency ?? CONCURRENCY_DEFAULT),
    disposable: props.disposable ?? false,
    ...(props.alarmEmail === undefined ? {} : { alarmEmail: props.alarmEmail }),
  };
  if (settings.tick === 'transport' && !usesInfrai(settings)) {
    throw new SettingError(
      'tick: "transport" needs a transport with a cron of its own: set transport to infrai or both',
    );
  }
  if (!usesInfrai(settings)) {
    if (props.infraiQueue === undefined && props.infraiUrl === undefined) return settings;
    throw new SettingError('infraiQueue and infraiUrl have no meaning where transport is sqs: leave them out');
  }
  if (props.infraiQueue === undefined) {
    throw new SettingError(`infraiQueue is missing: with transport ${settings.transport}, give the name of the queue`);
  }
  const url = props.infraiUrl === undefined ? {} : { url: props.infraiUrl };
  return { ...settings, infrai: { queue: props.infraiQueue, ...url } };
};

const oneOf = <T extends string>(name: string, known: readonly T[], value: string): T => {
  const found = known.find((one) => one === value);
  if (found === undefined) throw new SettingError(`${name}: "${value}" is not known; use ${known.join(', ')}`);
  return found;
};

const concurrencyOf = (value: number): number => {
  if (Number.isInteger(value) && value >= CONCURRENCY_MIN && value <= CONCURRENCY_MAX) return value;
  throw new SettingError(`receiverConcurrency must be a whole number from ${CONCURRENCY_MIN} to ${CONCURRENCY_MAX}`);
};

const KNOWN: Readonly<Record<keyof OncewardProps | 'stackName', true>> = {
  transport: true,
  tick: true,
  infraiQueue: true,
  infraiUrl: true,
  alarmEmail: true,
  receiverConcurrency: true,
  disposable: true,
  stackName: true,
};

/** Of the CDK's command line, without a prefix of its own: who may count, and which notices are known. */
const OF_THE_CDK = new Set(['cli-telemetry', 'acknowledged-issue-numbers']);

/**
 * Nobody reads a mistyped setting, and the deployment would go without it: no alarm would reach anybody, say. Names with a
 * colon or an at-sign are those of the CDK, of libraries, and of what it has looked up. Throws SettingError.
 */
export const refuseUnknownContext = (node: Node): void => {
  const names = Object.keys(node.getAllContext() as Readonly<Record<string, unknown>>);
  const unknown = names.find(
    (name) => !Object.hasOwn(KNOWN, name) && !OF_THE_CDK.has(name) && !name.includes(':') && !name.startsWith('@'),
  );
  if (unknown === undefined) return;
  throw new SettingError(`-c ${unknown}: there is no such setting; there are ${Object.keys(KNOWN).join(', ')}`);
};

/** The properties from the context of an app. Context given on the command line is always text. */
export const propsFromContext = (node: Node): OncewardProps => {
  const text = (name: string): string | undefined => {
    const value: unknown = node.tryGetContext(name);
    return value === undefined || value === '' ? undefined : String(value);
  };
  const given = {
    transport: text('transport') as OncewardProps['transport'],
    tick: text('tick') as OncewardProps['tick'],
    infraiQueue: text('infraiQueue'),
    infraiUrl: text('infraiUrl'),
    alarmEmail: text('alarmEmail'),
    receiverConcurrency: text('receiverConcurrency') === undefined ? undefined : Number(text('receiverConcurrency')),
    disposable:
      text('disposable') === undefined
        ? undefined
        : oneOf('disposable', ['true', 'false'], text('disposable') ?? '') === 'true',
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
};
