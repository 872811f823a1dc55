/** The relations between the numbers of a template and those of the code: each alone is right, together they must fit. */
import {
  FUNCTION_MS,
  PUSH_ANSWER_MS,
  SQS_DEAD_KEPT_MS,
  SQS_RECEIVES_MAX,
  TICK_MS,
} from '../../../functions/core/limits.ts';
import { at, type Check, idIn, ofType, type Resources } from '../template.ts';

const LAMBDA_SEC_MAX = 900;
const FOURTEEN_DAYS_SEC = 14 * 86_400;

const number = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN);

const functionSec = (resources: Resources, id: string | undefined): number =>
  number(resources[id ?? '']?.Properties['Timeout']);

export const functionLimits: Check = (resources) =>
  ofType(resources, 'AWS::Lambda::Function').flatMap(([id, { Properties }]) => {
    const sec = number(Properties['Timeout']);
    return [
      ...(sec < LAMBDA_SEC_MAX ? [] : [`${id}: a limit of ${sec} s`]),
      // The code plans with this limit where the platform gives no reading.
      ...(sec * 1_000 === FUNCTION_MS ? [] : [`${id}: ${sec} s, and the code counts on ${FUNCTION_MS} ms`]),
      ...(sec * 1_000 > PUSH_ANSWER_MS ? [] : [`${id}: ends before the queue's deadline for an answer`]),
    ];
  });

/** Every queue that feeds a function. */
export const eventSources: Check = (resources) =>
  ofType(resources, 'AWS::Lambda::EventSourceMapping').flatMap(([id, { Properties }]) => {
    const source = resources[idIn(Properties['EventSourceArn']) ?? '']?.Properties;
    const visibleSec = number(source?.['VisibilityTimeout']);
    const limitSec = functionSec(resources, idIn(Properties['FunctionName']));
    const receives = number(at(source, 'RedrivePolicy.maxReceiveCount'));
    const atOnce = number(at(Properties, 'ScalingConfig.MaximumConcurrency'));
    return [
      ...(visibleSec >= 6 * limitSec
        ? []
        : [`${id}: visible again after ${visibleSec} s, the function has ${limitSec} s`]),
      ...(receives >= 5 && receives === SQS_RECEIVES_MAX ? [] : [`${id}: dead after ${receives} receives`]),
      ...(at(Properties, 'FunctionResponseTypes.0') === 'ReportBatchItemFailures'
        ? []
        : [`${id}: no partial failures`]),
      ...(atOnce >= 2 ? [] : [`${id}: no maximum of concurrency`]),
    ];
  });

/** Dead letters are kept as long as anything can be, and longer than the queue that they come from. */
export const retention: Check = (resources) =>
  ofType(resources, 'AWS::SQS::Queue').flatMap(([id, { Properties }]) => {
    const target = at(Properties, 'RedrivePolicy.deadLetterTargetArn');
    const kept = number(Properties['MessageRetentionPeriod']);
    if (target === undefined) {
      const longest = kept === FOURTEEN_DAYS_SEC && kept * 1_000 === SQS_DEAD_KEPT_MS;
      return longest ? [] : [`${id}: keeps dead letters for ${kept} s`];
    }
    const dead = number(resources[idIn(target) ?? '']?.Properties['MessageRetentionPeriod']);
    return dead > kept ? [] : [`${id}: its dead letters are kept for ${dead} s, it keeps ${kept} s itself`];
  });

/** Two machines retry, the schedule and Lambda's own queue of events; setting one does not set the other. */
export const scheduleRetries: Check = (resources) =>
  ofType(resources, 'AWS::Scheduler::Schedule').flatMap(([id, { Properties }]) => {
    const target = at(Properties, 'Target');
    const invoked = ofType(resources, 'AWS::Lambda::EventInvokeConfig').find(
      ([, config]) => idIn(config.Properties['FunctionName']) === idIn(at(target, 'Arn')),
    )?.[1].Properties;
    const wanted: readonly (readonly [string, unknown])[] = [
      ['retries of the schedule', at(target, 'RetryPolicy.MaximumRetryAttempts')],
      ['age at the schedule', at(target, 'RetryPolicy.MaximumEventAgeInSeconds')],
      ['dead letters of the schedule', at(target, 'DeadLetterConfig.Arn')],
      ['retries of the function', invoked?.['MaximumRetryAttempts']],
      ['age at the function', invoked?.['MaximumEventAgeInSeconds']],
      ['dead letters of the function', at(invoked, 'DestinationConfig.OnFailure.Destination')],
    ];
    const every = Properties['ScheduleExpression'];
    return [
      ...wanted.filter(([, value]) => value === undefined).map(([name]) => `${id}: nothing says the ${name}`),
      ...(every === `rate(${TICK_MS / 60_000} minute)`
        ? []
        : [`${id}: ${every}, and the code ticks every ${TICK_MS} ms`]),
    ];
  });
