/**
 * The queue in this account.
 *
 *   queue --received SQS_RECEIVES_MAX times--> dead letters, kept as long as the service keeps anything
 *
 * A message's age counts from its first sending, also in the dead letters: these keep longer than the queue, so that
 * nothing is gone on the day it arrives there.
 */
import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { SQS_DEAD_KEPT_MS, SQS_KEPT_MS, SQS_RECEIVES_MAX, SQS_VISIBILITY_MS } from '../../functions/core/limits.ts';

export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.millis(SQS_DEAD_KEPT_MS),
      visibilityTimeout: Duration.millis(SQS_VISIBILITY_MS),
    });
    this.queue = new Queue(this, 'Main', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.millis(SQS_KEPT_MS),
      visibilityTimeout: Duration.millis(SQS_VISIBILITY_MS),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: SQS_RECEIVES_MAX },
    });
  }
}
