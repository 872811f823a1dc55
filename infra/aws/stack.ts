/** The stack that `cdk.json` deploys alone: the construct, and what a person has to know afterwards. */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Onceward } from './onceward.ts';
import type { OncewardProps } from './settings.ts';

export class OncewardStack extends Stack {
  readonly onceward: Onceward;

  constructor(scope: Construct, id: string, props: OncewardProps & StackProps = {}) {
    super(scope, id, props);
    this.onceward = new Onceward(this, 'Onceward', props);
    const { urls, table, secrets, queue } = this.onceward;
    const outputs: Readonly<Record<string, string | undefined>> = {
      IntakeUrl: urls.intake,
      OperatorUrl: urls.operator,
      PushUrl: urls.push,
      CronUrl: urls.cron,
      TableName: table.table.tableName,
      QueueUrl: queue?.queue.queueUrl,
      DeadLettersUrl: queue?.deadLetters.queueUrl,
      QueueKeySecret: secrets?.queueKey.secretArn,
      PushSecret: secrets?.push.secretArn,
    };
    for (const [name, value] of Object.entries(outputs)) {
      if (value !== undefined) new CfnOutput(this, name, { value });
    }
  }
}
