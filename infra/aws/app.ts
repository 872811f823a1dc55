/** What `cdk.json` runs. Settings come as context: `-c transport=both`; see settings.ts. */
import { App, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { propsFromContext, refuseUnknownContext, SettingError } from './settings.ts';
import { OncewardStack } from './stack.ts';

const app = new App();
try {
  refuseUnknownContext(app.node);
  const name: unknown = app.node.tryGetContext('stackName');
  new OncewardStack(app, typeof name === 'string' && name !== '' ? name : 'Onceward', propsFromContext(app.node));
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  // At once: at its own end the app would still write what there is of it.
  process.exit(1);
}
Tags.of(app).add('application', 'onceward');
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
