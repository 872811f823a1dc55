/**
 * Onceward in an app of your own: `new Onceward(this, 'Onceward', { transport: 'sqs' })`. It only wires; what each part
 * is stands in the file of the part.
 *
 *   app ---> intake ---> queue ---> receiver ---> destination        operator <--- people
 *              |                       |                                |
 *              +--------------- table -+--------------------------------+
 *                                 schedule ---> reconciler ---> queue
 */
import { Aws, Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { FUNCTION_MS, SQS_BATCH_MESSAGES } from '../../functions/core/limits.ts';
import { type QueueVerb, queueStatement, type Role, TABLE_ACCESS, tableStatements } from './access.ts';
import { Alarms } from './alarms.ts';
import { OncewardDashboard } from './dashboard.ts';
import { OncewardFunction, type OncewardFunctionProps } from './function.ts';
import { WorkQueue } from './queue.ts';
import { Tick } from './schedule.ts';
import { SealingKey, TransportSecrets } from './secrets.ts';
import { type OncewardProps, type Settings, settingsOf, usesInfrai, usesSqs } from './settings.ts';
import { LedgerTable } from './table.ts';
import type { Watched } from './watched.ts';

export type { OncewardProps } from './settings.ts';

const ENTRIES = {
  intake: 'functions/intake/handler.ts',
  receiver: 'functions/receiver/sqs-handler.ts',
  pushReceiver: 'functions/receiver/handler.ts',
  reconciler: 'functions/reconciler/handler.ts',
  cronReconciler: 'functions/reconciler/cron-handler.ts',
  operator: 'functions/operator/handler.ts',
} as const;

const MEMORY_MB = 512;

export class Onceward extends Construct implements Watched {
  readonly table: LedgerTable;
  readonly queue: WorkQueue | undefined;
  readonly intake: OncewardFunction;
  readonly operator: OncewardFunction;
  readonly receiver: OncewardFunction | undefined;
  readonly pushReceiver: OncewardFunction | undefined;
  readonly reconciler: OncewardFunction;
  readonly tick: Tick | undefined;
  readonly secrets: TransportSecrets | undefined;
  readonly urls: Readonly<Record<'intake' | 'operator', string>> & Partial<Readonly<Record<'push' | 'cron', string>>>;
  readonly alarms: Alarms;
  private readonly settings: Settings;
  private readonly sealing: SealingKey;

  constructor(scope: Construct, id: string, props: OncewardProps = {}) {
    super(scope, id);
    const settings = settingsOf(props);
    this.settings = settings;
    this.table = new LedgerTable(this, 'Ledger', settings);
    this.sealing = new SealingKey(this, 'Sealing', settings);
    this.queue = usesSqs(settings) ? new WorkQueue(this, 'Queue') : undefined;
    const byUrl = settings.tick === 'transport';
    this.secrets = usesInfrai(settings)
      ? new TransportSecrets(this, 'Secrets', { sealing: this.sealing, cron: byUrl })
      : undefined;

    this.intake = this.function('Intake', 'intake', ENTRIES.intake, 'accepts an event once');
    const intakeUrl = this.intake.openUrl();
    this.receiver = usesSqs(settings) ? this.queueReceiver([intakeUrl.host]) : undefined;
    this.pushReceiver = usesInfrai(settings) ? this.receiverOfPushes([intakeUrl.host]) : undefined;
    const pushUrl = this.pushReceiver?.openUrl();
    this.reconciler = byUrl
      ? this.function('Reconciler', 'reconciler', ENTRIES.cronReconciler, 'the tick by URL: enqueues, returns')
      : this.function('Reconciler', 'reconciler', ENTRIES.reconciler, 'the tick: enqueues, returns');
    const cronUrl = byUrl ? this.cronUrl() : undefined;
    this.tick = byUrl ? undefined : new Tick(this, 'Tick', this.reconciler);
    const hosts = [intakeUrl, pushUrl, cronUrl].flatMap((one) => one?.host ?? []);
    this.operator = this.operatorOf(hosts);
    this.urls = {
      intake: intakeUrl.url,
      operator: this.operator.openUrl().url,
      ...(pushUrl === undefined ? {} : { push: `${pushUrl.url}push/infrai` }),
      ...(cronUrl === undefined ? {} : { cron: `${cronUrl.url}cron/reconcile` }),
    };
    this.alarms = new Alarms(this, 'Alarms', this, settings.alarmEmail);
    new OncewardDashboard(this, 'Dashboard', this, this.alarms);
  }

  private queueReceiver(ownHosts: readonly string[]): OncewardFunction {
    const receiver = this.function('Receiver', 'receiver', ENTRIES.receiver, 'a message becomes one effect', {
      ownHosts,
    });
    receiver.allow(this.sealing.statement('open'), ...this.onQueue('consume'), ...this.onDead('redrive'));
    const mapping = new EventSourceMapping(this, 'FromQueue', {
      target: receiver.lambda,
      ...(this.queue === undefined ? {} : { eventSourceArn: this.queue.queue.queueArn }),
      batchSize: SQS_BATCH_MESSAGES,
      reportBatchItemFailures: true,
      maxConcurrency: this.settings.receiverConcurrency,
    });
    // The platform checks at once whether the role may read the queue.
    mapping.node.addDependency(receiver.role);
    return receiver;
  }

  private receiverOfPushes(ownHosts: readonly string[]): OncewardFunction {
    const options = { ownHosts, reserved: this.settings.receiverConcurrency };
    const receiver = this.function('PushReceiver', 'receiver', ENTRIES.pushReceiver, 'a push becomes one effect', {
      ...options,
      environment: this.secrets === undefined ? {} : { ONCEWARD_PUSH_SECRET_ARN: this.secrets.push.secretArn },
    });
    receiver.allow(this.sealing.statement('open'), ...this.onQueue('look'), ...this.onDead('redrive'));
    if (this.secrets !== undefined) receiver.allow(...this.secrets.statements(this.secrets.push));
    return receiver;
  }

  private operatorOf(ownHosts: readonly string[]): OncewardFunction {
    const operator = this.function('Operator', 'operator', ENTRIES.operator, 'API for people: explain and decide', {
      ownHosts,
    });
    operator.allow(this.sealing.statement('seal', 'open'), ...this.onQueue('look'), ...this.onDead('redrive'));
    return operator;
  }

  private cronUrl() {
    const { secrets, reconciler } = this;
    if (secrets === undefined) throw new Error('a tick by URL needs a push transport');
    reconciler.lambda.addEnvironment('ONCEWARD_CRON_SECRET_ARN', secrets.cron.secretArn);
    reconciler.allow(...secrets.statements(secrets.cron));
    return reconciler.openUrl();
  }

  private function(
    id: string,
    role: Role,
    entry: string,
    description: string,
    options: { ownHosts?: readonly string[]; environment?: Record<string, string> } & Pick<
      OncewardFunctionProps,
      'reserved'
    > = {},
  ): OncewardFunction {
    const { ownHosts = [], environment, reserved } = options;
    const made = new OncewardFunction(this, id, {
      description: `Onceward: ${description}`,
      entry,
      limitMs: FUNCTION_MS,
      memoryMb: MEMORY_MB,
      environment: {
        ONCEWARD_DEPLOYMENT: Aws.STACK_NAME,
        ONCEWARD_TABLE: this.table.table.tableName,
        ...this.transportEnvironment(role),
        ...(ownHosts.length === 0 ? {} : { ONCEWARD_OWN_HOSTS: ownHosts.join(',') }),
        ...(role === 'intake' || role === 'reconciler' ? {} : { ONCEWARD_SEALING_KEY: this.sealing.key.keyArn }),
        ...environment,
      },
      ...(reserved === undefined ? {} : { reserved }),
    });
    made.allow(...tableStatements(this.table.table, TABLE_ACCESS[role]), ...this.publishing(role));
    return made;
  }

  /**
   * Where SQS is on, it is what everybody publishes to. Of `both`, intake therefore knows SQS alone; the others also read
   * the statistics and the dead letters of Infrai.
   */
  private transportOf(role: Role): Settings['transport'] {
    return role === 'intake' && this.queue !== undefined ? 'sqs' : this.settings.transport;
  }

  private transportEnvironment(role: Role): Record<string, string> {
    const transport = this.transportOf(role);
    const { infrai } = this.settings;
    return {
      ONCEWARD_TRANSPORT: transport,
      ...(this.queue === undefined
        ? {}
        : {
            ONCEWARD_SQS_QUEUE_URL: this.queue.queue.queueUrl,
            ONCEWARD_SQS_DEAD_LETTER_URL: this.queue.deadLetters.queueUrl,
          }),
      ...(transport === 'sqs' || infrai === undefined || this.secrets === undefined
        ? {}
        : {
            ONCEWARD_QUEUE: infrai.queue,
            ONCEWARD_INFRAI_KEY_ARN: this.secrets.queueKey.secretArn,
            ...(infrai.url === undefined ? {} : { ONCEWARD_INFRAI_URL: infrai.url }),
          }),
    };
  }

  private publishing(role: Role): PolicyStatement[] {
    const { secrets } = this;
    const key = secrets === undefined || this.transportOf(role) === 'sqs' ? [] : secrets.statements(secrets.queueKey);
    return [...this.onQueue('send'), ...key];
  }

  private onQueue(...verbs: readonly QueueVerb[]): PolicyStatement[] {
    return this.queue === undefined ? [] : [queueStatement(this.queue.queue, ...verbs)];
  }

  private onDead(...verbs: readonly QueueVerb[]): PolicyStatement[] {
    return this.queue === undefined ? [] : [queueStatement(this.queue.deadLetters, ...verbs)];
  }

  get functions(): readonly OncewardFunction[] {
    const all = [this.intake, this.receiver, this.pushReceiver, this.reconciler, this.operator];
    return all.filter((one) => one !== undefined);
  }

  get deployment(): string {
    return Stack.of(this).stackName;
  }
}
