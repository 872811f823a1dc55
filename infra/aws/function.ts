/** One function: its code, its own role with nothing in it but its log, its log group, and perhaps a public URL. */
import { Duration, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, FunctionUrlAuthType, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { codeOf } from './code.ts';

export interface OncewardFunctionProps {
  readonly description: string;
  /** Path of the handler's file from the top of the project. */
  readonly entry: string;
  readonly limitMs: number;
  readonly memoryMb: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Invocations at a time that are set aside for it, and its bound. */
  readonly reserved?: number;
}

export class OncewardFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly logs: LogGroup;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: OncewardFunctionProps) {
    super(scope, id);
    this.logs = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `What the function may do: ${props.description}`,
    });
    this.allow(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [this.logs.logGroupArn],
      }),
    );
    this.lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: codeOf(props.entry),
      handler: 'index.handler',
      timeout: Duration.millis(props.limitMs),
      memorySize: props.memoryMb,
      environment: { ...props.environment },
      role: this.role.withoutPolicyUpdates(),
      logGroup: this.logs,
      ...(props.reserved === undefined ? {} : { reservedConcurrentExecutions: props.reserved }),
    });
  }

  allow(...statements: readonly PolicyStatement[]): void {
    for (const statement of statements) this.role.addToPolicy(statement);
  }

  /**
   * Without a signature of IAM: the app itself asks for a bearer token, a push signature or a secret header. Since October
   * 2025 a public URL needs two permissions, for `lambda:InvokeFunctionUrl` and `lambda:InvokeFunction`; the construct
   * adds both. Source: AWS Lambda developer guide, "Control access to Lambda function URLs".
   */
  openUrl(): FunctionUrlParts {
    const { url } = this.lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    return { url, host: Fn.select(2, Fn.split('/', url)) };
  }
}

export interface FunctionUrlParts {
  /** With a slash at its end. */
  readonly url: string;
  readonly host: string;
}
