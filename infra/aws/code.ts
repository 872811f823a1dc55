/** The code of a function: ready-made beside the compiled constructs in an installed package, else bundled here. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { bundle, PROJECT } from './bundle.ts';

/** `functions/receiver/sqs-handler.ts` is shipped as `lambda/receiver-sqs-handler/`. */
export const shippedName = (entry: string): string =>
  entry
    .replace(/^functions\//, '')
    .replace(/\.ts$/, '')
    .replaceAll('/', '-');

export const codeOf = (entry: string): Code => {
  const shipped = fileURLToPath(new URL(`../../lambda/${shippedName(entry)}`, import.meta.url));
  if (existsSync(shipped)) return Code.fromAsset(shipped);
  return Code.fromAsset(PROJECT, {
    // The hash of what comes out: a change of the project that does not reach the function deploys nothing.
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never used: the local bundling below always succeeds or throws.
      image: DockerImage.fromRegistry('unused'),
      // All functions are made from one folder: without this, the first bundle would be taken for all of them.
      environment: { ENTRY: entry },
      local: {
        tryBundle: (outputDir) => {
          bundle(entry, outputDir);
          return true;
        },
      },
    },
  });
};
