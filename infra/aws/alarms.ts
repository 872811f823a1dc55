/**
 * When to wake somebody. Each alarm says in its own text what it means and where the runbook goes on.
 *
 * An alarm watches from outside of the path that it guards: that the sweep lives is said by the reconciler, that the
 * reconciler lives by nobody, and so missing data is the breach.
 */
import { CfnOutput } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { alarmsOf } from './alarm-list.ts';
import type { AlarmSpec } from './alarm-spec.ts';
import type { Watched } from './watched.ts';

const MISSING = {
  breach: TreatMissingData.BREACHING,
  fine: TreatMissingData.NOT_BREACHING,
  'as-before': TreatMissingData.IGNORE,
} as const;

const COMPARISON = {
  above: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  below: ComparisonOperator.LESS_THAN_THRESHOLD,
} as const;

/** `SweepMissing` has the section `sweep-missing`. */
export const runbookSection = (id: string): string => id.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();

export class Alarms extends Construct {
  readonly topic: Topic;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, watched: Watched, email: string | undefined) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { displayName: 'Onceward', enforceSSL: true });
    if (email !== undefined) this.topic.addSubscription(new EmailSubscription(email));
    const action = new SnsAction(this.topic);
    this.alarms = alarmsOf(watched).map((spec) => {
      const alarm = this.alarm(spec);
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
      return alarm;
    });
    new CfnOutput(this, 'TopicArn', { value: this.topic.topicArn });
  }

  private alarm(spec: AlarmSpec): Alarm {
    return new Alarm(this, spec.id, {
      alarmDescription: `${spec.says} Runbook: infra/RUNBOOK.md#${spec.section ?? runbookSection(spec.id)}`,
      metric: spec.metric,
      threshold: spec.threshold,
      comparisonOperator: COMPARISON[spec.breach],
      evaluationPeriods: spec.periods,
      datapointsToAlarm: spec.periods,
      treatMissingData: MISSING[spec.missing],
    });
  }
}
