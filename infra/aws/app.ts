/** What `cdk.json` runs. Settings come as context: `-c transport=both`; see settings.ts. */
import { App, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { propsFromContext } from './settings.ts';
import { OncewardStack } from './stack.ts';

const app = new App();
const name: unknown = app.node.tryGetContext('stackName');
new OncewardStack(app, typeof name === 'string' && name !== '' ? name : 'Onceward', propsFromContext(app.node));
Tags.of(app).add('application', 'onceward');
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
