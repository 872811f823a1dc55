/** What the rules of AWS for a well-built solution say of the stack: nothing that is not explained. */
import { App } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import { REASONS } from '../../infra/aws/nag.ts';
import { OncewardStack } from '../../infra/aws/stack.ts';
import { PROPS, UNBUNDLED } from './template.ts';

const findings = (spoil: (stack: OncewardStack) => void = () => {}, props = PROPS.both): readonly string[] => {
  const app = new App({ context: UNBUNDLED });
  spoil(new OncewardStack(app, 'Onceward', props));
  const report = new AwsSolutionsChecks(app).validateScope(app);
  return report.violations.map(({ ruleName }) => ruleName);
};

/** Asked directly, the pack also says what is acknowledged; that a synth lets it through is for the slow tier. */
const EXPLAINED = Object.keys(REASONS).toSorted();

it('the AwsSolutions rules find in the stack for both transports what is explained in the code, and nothing else', () => {
  expect(findings().toSorted()).toEqual(EXPLAINED);
});

it('an explanation is a sentence, not a word', () => {
  for (const reason of Object.values(REASONS)) expect(reason.split(' ').length).toBeGreaterThan(8);
});

it('they would find a queue without TLS', () => {
  const found = findings((stack) => void new Queue(stack, 'Careless'));
  expect(found.filter((rule) => !EXPLAINED.includes(rule))).toEqual(['AwsSolutions-SQS4']);
});
