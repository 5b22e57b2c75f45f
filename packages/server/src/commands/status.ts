import { Command } from 'commander';
import { type Connection, call, callOk, connectionOf, withConnection } from './connection.js';
import { print } from './output/terminal.js';

/** `plinth status`. */
export function statusCommand(): Command {
  const command = withConnection(new Command('status'), { database: false })
    .description('health, version and databases of a server')
    .addHelpText('after', '\nExample:\n  plinth status --host http://127.0.0.1:8181');
  return command.action(async () => {
    const connection = connectionOf(command.opts());
    const startMs = performance.now();
    const health = (await (await callOk(connection, 'health')).text()).trim();
    const answerMs = (performance.now() - startMs).toFixed(0);
    const ping = Object(await (await callOk(connection, 'ping')).json());
    const databases = await readDatabases(connection);
    print(
      [
        `server     ${connection.host}`,
        `health     ${health} (${answerMs} ms)`,
        `version    ${String(Reflect.get(ping, 'version'))}`,
        ...(databases === undefined ? [] : [`databases  ${databases.join(', ') || 'none yet'}`]),
        '',
      ].join('\n'),
    );
  });
}

/** Undefined when the server has no list of databases to show. */
async function readDatabases(connection: Connection): Promise<string[] | undefined> {
  const response = await call(connection, 'api/v3/configure/database', {
    query: { format: 'json' },
  });
  const rows: unknown = response.ok ? await response.json() : undefined;
  if (!Array.isArray(rows)) return undefined;
  return rows.map((row: unknown) => String(Reflect.get(Object(row), 'iox::database')));
}
