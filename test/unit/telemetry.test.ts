/** What is written for people is what CloudWatch counts: the embedded metric format, checked member by member. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { createTelemetry } from '../../functions/adapters/telemetry.ts';
import { METRIC_DIMENSION, METRIC_NAMESPACE } from '../../functions/core/metrics.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 3, 0, 0);

const scene = (deployment?: string) => {
  const printed: string[] = [];
  const telemetry = createTelemetry({ nowMs: () => NOW_MS }, (text) => void printed.push(text), { deployment });
  return { telemetry, printed, last: () => JSON.parse(printed.at(-1) ?? '') as Record<string, unknown> };
};

/** The parts of the specification that decide whether CloudWatch takes the line: it drops, without a word, what breaks them. */
const emf = z.object({
  _aws: z.object({
    Timestamp: z.int(),
    CloudWatchMetrics: z
      .array(
        z.object({
          Namespace: z.string().check(z.minLength(1)),
          Dimensions: z.array(z.array(z.string()).check(z.minLength(1), z.maxLength(30))),
          Metrics: z
            .array(z.object({ Name: z.string(), Unit: z.enum(['Count', 'Milliseconds']) }))
            .check(z.minLength(1), z.maxLength(100)),
        }),
      )
      .check(z.minLength(1)),
  }),
});

describe('a line that measures, in a deployment', () => {
  it('is a metric: its metadata names members that are numbers, and dimensions that are texts', () => {
    const { telemetry, last } = scene('orders-prod');
    telemetry.line('delivery.attempted', { event: 'e1' }, { 'attempt-delivered': 1, 'attempt-ms': 120 });
    const line = last();
    const [directive] = z.parse(emf, line)._aws.CloudWatchMetrics;
    expect(directive?.Namespace).toBe(METRIC_NAMESPACE);
    expect(directive?.Dimensions).toEqual([[METRIC_DIMENSION]]);
    expect(line[METRIC_DIMENSION]).toBe('orders-prod');
    expect(directive?.Metrics).toEqual([
      { Name: 'attempt-delivered', Unit: 'Count' },
      { Name: 'attempt-ms', Unit: 'Milliseconds' },
    ]);
    expect([line['attempt-delivered'], line['attempt-ms']]).toEqual([1, 120]);
  });

  it('bears its time in milliseconds, and once more for people', () => {
    const { telemetry, last } = scene('orders-prod');
    telemetry.count('tick');
    expect(z.parse(emf, last())._aws.Timestamp).toBe(NOW_MS);
    expect(last()['at']).toBe('2026-11-29T03:00:00.000Z');
  });

  it('is one object on one line, whatever its texts hold', () => {
    const { telemetry, printed } = scene('orders-prod');
    telemetry.line('api.error', { detail: 'first\nsecond\u2028third', code: undefined }, { 'internal-error': 1 });
    expect(printed[0]).not.toMatch(/\n/);
    expect(JSON.parse(printed[0] ?? '')).not.toHaveProperty('code');
  });

  it('lets no field overwrite what it measures', () => {
    const { telemetry, last } = scene('orders-prod');
    telemetry.line(
      'x',
      { 'attempt-delivered': 'no number', [METRIC_DIMENSION]: 'another' },
      { 'attempt-delivered': 1 },
    );
    expect(last()['attempt-delivered']).toBe(1);
    expect(last()[METRIC_DIMENSION]).toBe('orders-prod');
  });
});

describe('a count', () => {
  it('counts one where nothing else is said', () => {
    const { telemetry, last } = scene('orders-prod');
    telemetry.count('poison');
    expect(last()['poison']).toBe(1);
    telemetry.count('tick-failed', 3);
    expect(last()['tick-failed']).toBe(3);
  });
});

describe('what is no metric', () => {
  it('a line that measures nothing', () => {
    const { telemetry, last } = scene('orders-prod');
    telemetry.line('destination.resumed', { destination: 'd' });
    expect(Object.keys(last())).toEqual(['at', 'line', 'destination']);
  });

  it('anything outside of a deployment: the numbers stay readable', () => {
    const { telemetry, last } = scene();
    telemetry.line('x', {}, { 'attempt-ms': 5 });
    expect(Object.keys(last())).toEqual(['at', 'line', 'attempt-ms']);
  });
});
