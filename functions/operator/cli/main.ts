#!/usr/bin/env node
/** `onceward`: the operator's commands as a command line. A client of the HTTP API, never of the table. */
import { composeShell } from './compose.ts';
import { runCli } from './run.ts';

// Whoever reads no further, such as `head`, has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runCli(process.argv.slice(2), composeShell());
