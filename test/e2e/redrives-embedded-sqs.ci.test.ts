import { describe, it } from 'vitest';
import { runAgrees } from '../support/embedded-redrives.ts';

describe('a run over the embedded SQS', () => {
  it(
    'agrees with the plan, with the counts of the queue, and with what the partner received',
    {
      timeout: 60_000,
    },
    () => runAgrees('sqs'),
  );
});
