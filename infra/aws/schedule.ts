/**
 * The tick: once a minute, to the reconciler.
 *
 *   schedule --retries, at most a minute--> Lambda's own queue of events --retries, at most a minute--> reconciler
 *       |                                          |
 *       +---------------- dead letters <-----------+
 *
 * Two machines with retries and dead letters of their own: setting one does not change the other, so all four are set.
 * A tick that came late would do no harm, and the next one is a minute away: no patience is needed.
 */
import { Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { SQS_DEAD_KEPT_MS, TICK_MS } from '../../functions/core/limits.ts';
import type { OncewardFunction } from './function.ts';
import { acknowledge } from './nag.ts';

const RETRIES = 2;
/** The shortest that either of them takes. */
const AGE_SEC = 60;

export class Tick extends Construct {
  readonly missed: Queue;

  constructor(scope: Construct, id: string, reconciler: OncewardFunction) {
    super(scope, id);
    this.missed = new Queue(this, 'Missed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.millis(SQS_DEAD_KEPT_MS),
    });
    acknowledge(this.missed, 'AwsSolutions-SQS3');
    const send = new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.missed.queueArn] });
    reconciler.lambda.configureAsyncInvoke({
      retryAttempts: RETRIES,
      maxEventAge: Duration.seconds(AGE_SEC),
      onFailure: new SqsDestination(this.missed),
    });
    reconciler.allow(send);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com'),
      description: 'What the schedule may do: call the reconciler, and note a call that came to nothing',
    });
    role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [reconciler.lambda.functionArn] }),
    );
    role.addToPolicy(send);
    const schedule = new CfnSchedule(this, 'Schedule', {
      description: 'Calls the reconciler once a minute',
      scheduleExpression: `rate(${TICK_MS / 60_000} minute)`,
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: reconciler.lambda.functionArn,
        roleArn: role.roleArn,
        deadLetterConfig: { arn: this.missed.queueArn },
        retryPolicy: { maximumRetryAttempts: RETRIES, maximumEventAgeInSeconds: AGE_SEC },
      },
    });
    // Without its permissions the first ticks would fail and look like a fault.
    schedule.node.addDependency(role);
  }
}
