import { cannotWrite, EXIT } from '@plinth/server/process/command-failed.js';
import { readVersion } from '@plinth/server/product-version.js';
import { Command } from 'commander';
import { COMMANDS, VERBS } from './commands/all-commands.js';
import { inherit } from './commands/inherit.js';
import { endWith } from './commands/output/exit.js';
import { endStoreThread } from './store-thread.js';

const EXAMPLES = `
Examples:
  plinth serve --data-dir ./data
  plinth token create
  plinth write --database home readings.lp
  plinth query --database home 'SELECT * FROM readings LIMIT 5'

Connection options (commands that use a server): --host, --database, --token and --tls-ca, or the variables
PLINTH_HOST_URL, PLINTH_DATABASE_NAME, PLINTH_TOKEN and PLINTH_TLS_CA. influxdb3 variables (INFLUXDB3_AUTH_TOKEN, ...)
and commands (create database, show tokens, enable trigger, ...) also work.

Exit codes: 0 success, 1 failure or partial success, 2 wrong usage, 3 server unreachable, 4 no valid token or permission,
5 acknowledged data may be lost (plinth verify).`;

/** Runs one command line and sets the exit code. The process exits when no work remains. */
async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('plinth')
    .description('one server for time series, accounts, webhooks, rate limits and game data')
    .version(readVersion())
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  const requestedName = argv[2];
  for (const [name, { description, load }] of Object.entries(COMMANDS)) {
    if (name === requestedName) program.addCommand(inherit(await load(), program));
    else program.command(name).description(description);
  }
  for (const [name, { load }] of Object.entries(VERBS)) {
    const verb = name === requestedName ? inherit(await load(), program) : new Command(name);
    program.addCommand(verb, { hidden: true });
  }
  await program.parseAsync(argv);
}

// A closed pipe (`| head`) is not a failure.
process.stdout.on('error', (error) => {
  if (Reflect.get(error, 'code') === 'EPIPE') return;
  endWith(cannotWrite('standard output', error));
  process.exit();
});

// Node also exits when no more events can occur, even in the middle of a command. This counts as a failure.
let hasEnded = false;
process.on('exit', (code) => {
  if (hasEnded || code !== 0) return;
  process.stderr.write('plinth: the process ended before the command was complete\n');
  process.exitCode = EXIT.failed;
});

main(process.argv)
  .catch(endWith)
  .finally(() => {
    hasEnded = true;
    return endStoreThread();
  });
