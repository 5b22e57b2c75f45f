import { Command } from 'commander';
import { COMMANDS, VERBS } from './commands/all-commands.js';
import { inherit } from './commands/inherit.js';
import { cannotWrite, EXIT, endWith } from './commands/output/exit.js';
import { readVersion } from './product-version.js';
import { endStoreThread } from './store-thread.js';

const EXAMPLES = `
Examples:
  plinth serve --data-dir ./data
  plinth token create
  plinth write --database home readings.lp
  plinth query --database home 'SELECT * FROM readings LIMIT 5'

Connection (all commands but serve and completion): --host, --database, --token, --tls-ca, or in the environment
PLINTH_HOST_URL, PLINTH_DATABASE_NAME, PLINTH_TOKEN, PLINTH_TLS_CA; the names of influxdb3 (INFLUXDB3_AUTH_TOKEN, ...) are
understood, and so are its verbs: create database, show tokens, enable trigger, ...

Exit codes: 0 done, 1 failed or done in part, 2 wrong usage, 3 server not reachable, 4 not authenticated.`;

/** Runs one command line; the exit code is set, the process ends when nothing is left to do. */
async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('plinth')
    .description('One server for the services a platform stands on.')
    .version(readVersion())
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  const wanted = argv[2];
  for (const [name, { description, load }] of Object.entries(COMMANDS)) {
    if (name === wanted) program.addCommand(inherit(await load(), program));
    else program.command(name).description(description);
  }
  for (const [name, { load }] of Object.entries(VERBS)) {
    const verb = name === wanted ? inherit(await load(), program) : new Command(name);
    program.addCommand(verb, { hidden: true });
  }
  await program.parseAsync(argv);
}

// A reader that has seen enough (`| head`) closes the pipe; that is its right and no failure.
process.stdout.on('error', (error) => {
  if (Reflect.get(error, 'code') === 'EPIPE') return;
  endWith(cannotWrite('standard output', error));
  process.exit();
});

// A process ends when nothing is left that could wake it, also in the middle of a command: that is no success.
let hasEnded = false;
process.on('exit', (code) => {
  if (hasEnded || code !== 0) return;
  process.stderr.write('plinth: ended before the command was done\n');
  process.exitCode = EXIT.failed;
});

main(process.argv)
  .catch(endWith)
  .finally(() => {
    hasEnded = true;
    return endStoreThread();
  });
