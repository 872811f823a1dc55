/** The settings of a deployment: what is given as context is text, and what makes no sense is refused by name. */
import { readFile } from 'node:fs/promises';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { propsFromContext, refuseUnknownContext, settingsOf } from '../../infra/aws/settings.ts';

const settingsFrom = (context: Record<string, unknown>) => settingsOf(propsFromContext(new App({ context }).node));

describe('settings from the context', () => {
  it('are all there without any', () => {
    expect(settingsFrom({})).toEqual({
      transport: 'sqs',
      tick: 'schedule',
      receiverConcurrency: 20,
      disposable: false,
    });
  });

  it('are read out of texts', () => {
    const context = {
      transport: 'both',
      infraiQueue: 'orders',
      receiverConcurrency: '6',
      disposable: 'true',
      tick: '',
    };
    expect(settingsFrom(context)).toEqual({
      transport: 'both',
      tick: 'schedule',
      receiverConcurrency: 6,
      disposable: true,
      infrai: { queue: 'orders' },
    });
  });

  it.each([
    [{ transport: 'sns' }, /transport: "sns" is not known; use sqs, infrai, both/],
    [{ tick: 'hourly' }, /tick: "hourly" is not known; use schedule, transport/],
    [{ transport: 'infrai' }, /infraiQueue is missing: with transport infrai/],
    [{ infraiQueue: 'orders' }, /have no meaning where transport is sqs/],
    [{ tick: 'transport' }, /needs a transport with a cron of its own/],
    [{ receiverConcurrency: '5' }, /receiverConcurrency must be a whole number from 6 to 1000/],
    [{ receiverConcurrency: 'many' }, /receiverConcurrency must be a whole number/],
    [{ disposable: 'yes' }, /disposable: "yes" is not known; use true, false/],
  ])('%j are refused by name', (context, says) => {
    expect(() => settingsFrom(context)).toThrow(says);
  });
});

describe('the names in the context', () => {
  const named = (context: Record<string, unknown>) => () => refuseUnknownContext(new App({ context }).node);

  it.each(['alarmMail', 'alarmemail', 'alarm-email', 'Transport'])('that nobody reads are refused: %s', (name) => {
    const says = `-c ${name}: there is no such setting; there are transport, tick, `;
    expect(named({ [name]: 'x' })).toThrow(says);
  });

  it('that are ours, or of the CDK, are let through', async () => {
    const { context } = JSON.parse(await readFile('cdk.json', 'utf8')) as { context: Record<string, unknown> };
    expect(named(context)).not.toThrow();
    expect(named({ stackName: 'Second', alarmEmail: 'ops@example.com', receiverConcurrency: '7' })).not.toThrow();
    expect(named({ 'aws:cdk:bundling-stacks': ['**'], 'acknowledged-issue-numbers': [34892] })).not.toThrow();
    expect(named({ 'availability-zones:account=1:region=eu-west-1': ['eu-west-1a'] })).not.toThrow();
  });
});
