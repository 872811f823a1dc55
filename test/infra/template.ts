/** Stacks as CloudFormation gets them, without their bundles; and twins, in which one thing is wrong. */
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { OncewardProps } from '../../infra/aws/settings.ts';
import { OncewardStack } from '../../infra/aws/stack.ts';

export interface Resource {
  readonly Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
}

export type Resources = Record<string, Resource>;

/** What holds in every stack that is deployed. A finding says what is wrong; none is well. */
export type Check = (resources: Resources) => readonly string[];

export const PROPS = {
  sqs: {},
  infrai: { transport: 'infrai', infraiQueue: 'orders' },
  both: { transport: 'both', infraiQueue: 'orders', alarmEmail: 'ops@example.com' },
  'infrai with its own cron': { transport: 'infrai', infraiQueue: 'orders', tick: 'transport' },
} as const satisfies Record<string, OncewardProps>;

export type Variant = keyof typeof PROPS;
export const VARIANTS = Object.keys(PROPS) as readonly Variant[];

/** Bundling is tested by itself; here it would only take time. */
export const UNBUNDLED = { 'aws:cdk:bundling-stacks': [] };

export const stackOf = (props: OncewardProps, context: Record<string, unknown> = UNBUNDLED): OncewardStack =>
  new OncewardStack(new App({ context }), 'Onceward', props);

export const resourcesIn = (stack: OncewardStack): Resources => Template.fromStack(stack).toJSON()['Resources'];

const made = new Map<Variant, Resources>();

/** One template for each variant, made once a file. Not to be changed: see `twinOf`. */
export const resourcesOf = (variant: Variant): Resources => {
  const known = made.get(variant) ?? resourcesIn(stackOf(PROPS[variant]));
  made.set(variant, known);
  return known;
};

/** A copy in which `spoil` has changed one thing. */
export const twinOf = (variant: Variant, spoil: (resources: Resources) => void): Resources => {
  const copy = structuredClone(resourcesOf(variant));
  spoil(copy);
  return copy;
};

export const ofType = (resources: Resources, type: string): readonly (readonly [id: string, resource: Resource])[] =>
  Object.entries(resources).filter(([, resource]) => resource.Type === type);

/** The one resource of a type whose logical id contains this text; throws where there is none, or more than one. */
export const one = (
  resources: Resources,
  type: string,
  text: string | RegExp = '',
): readonly [id: string, resource: Resource] => {
  const found = ofType(resources, type).filter(([id]) =>
    typeof text === 'string' ? id.includes(text) : text.test(id),
  );
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${found.length} of ${type} with "${text}"`);
  return first;
};

/** What stands at a path such as `Target.RetryPolicy.MaximumRetryAttempts`. */
export const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (isRecord(inner) || Array.isArray(inner) ? Reflect.get(inner, name) : undefined),
      value,
    );

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The logical id that a `Ref` or a `Fn::GetAtt` names. */
export const idIn = (value: unknown): string | undefined => {
  const named = at(value, 'Ref') ?? at(value, 'Fn::GetAtt.0');
  return typeof named === 'string' ? named : undefined;
};

export const list = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];
