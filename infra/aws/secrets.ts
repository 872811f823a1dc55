/**
 * What functions must know and nobody else: under a key of this deployment's own, so that reading the table or a list of
 * secrets is not enough to have them.
 *
 *   sealing   destinations' signing secrets in the table; receiver and operator
 *   queueKey  the API key of Infrai; who publishes. It is made empty: a person puts the real one in
 *   push      signs the pushes; the push receiver
 *   cron      stands in the header of the transport's cron; the reconciler with a URL
 */

import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from './nag.ts';

const GENERATED_CHARS = 48;

export class SealingKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string, { disposable }: { readonly disposable: boolean }) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: "Onceward: destinations' signing secrets and the secrets of the transport",
      enableKeyRotation: true,
      removalPolicy: disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
  }

  /** Sealing and opening what stands in the table; the context of each names the destination. */
  statement(...verbs: readonly ('seal' | 'open')[]): PolicyStatement {
    const actions = { seal: 'kms:Encrypt', open: 'kms:Decrypt' } as const;
    return new PolicyStatement({ actions: verbs.map((verb) => actions[verb]), resources: [this.key.keyArn] });
  }
}

export class TransportSecrets extends Construct {
  readonly queueKey: Secret;
  readonly push: Secret;
  private readonly sealing: SealingKey;
  private readonly cronSecret: Secret | undefined;

  constructor(
    scope: Construct,
    id: string,
    { sealing, cron }: { readonly sealing: SealingKey; readonly cron: boolean },
  ) {
    super(scope, id);
    this.sealing = sealing;
    this.queueKey = this.made('QueueKey', 'Onceward: the API key of Infrai. Put the real one in');
    this.push = this.made('PushSecret', 'Onceward: signs the pushes of Infrai');
    this.cronSecret = cron
      ? this.made('CronSecret', 'Onceward: stands in the header of the cron of Infrai')
      : undefined;
  }

  get cron(): Secret {
    if (this.cronSecret === undefined) throw new Error('there is no cron secret where the tick is a schedule');
    return this.cronSecret;
  }

  statements(secret: Secret): PolicyStatement[] {
    return [
      new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secret.secretArn] }),
      new PolicyStatement({
        actions: ['kms:Decrypt'],
        resources: [this.sealing.key.keyArn],
        conditions: { StringEquals: { 'kms:EncryptionContext:SecretARN': secret.secretArn } },
      }),
    ];
  }

  private made(id: string, description: string): Secret {
    const secret = new Secret(this, id, {
      description,
      encryptionKey: this.sealing.key,
      generateSecretString: { passwordLength: GENERATED_CHARS, excludePunctuation: true },
    });
    acknowledge(secret, 'AwsSolutions-SMG4');
    return secret;
  }
}
