import { Command } from 'commander';
import { type Connection, call, callOk, connectionOf, withConnection } from './connection.js';
import { printOne, withFormat } from './output/listing.js';

export function statusCommand(): Command {
  const command = withFormat(withConnection(new Command('status'), { database: false }))
    .description('show health, version and databases of a server')
    .addHelpText('after', '\nExample:\n  plinth status --host http://127.0.0.1:8181');
  return command.action(async () => {
    const connection = connectionOf(command.opts());
    const startMs = performance.now();
    const health = (await (await callOk(connection, 'health')).text()).trim();
    const answer_ms = Math.round(performance.now() - startMs);
    const ping = Object(await (await callOk(connection, 'ping')).json());
    const version = String(Reflect.get(ping, 'version'));
    const build = await readBuild(connection);
    const databases = await readDatabases(connection);
    const known = { server: connection.host, health, answer_ms, version, build, databases };
    printOne(command, known, () =>
      [
        `server     ${connection.host}`,
        `health     ${health} (${answer_ms} ms)`,
        `version    ${version}${build === undefined ? '' : `, build ${build}`}`,
        ...(databases === undefined ? [] : [`databases  ${databases.join(', ') || 'none yet'}`]),
        '',
      ].join('\n'),
    );
  });
}

/**
 * Returns the version of the program; undefined on other servers. `version` of the InfluxDB API does not change with
 * each build.
 */
async function readBuild(connection: Connection): Promise<string | undefined> {
  const response = await call(connection, 'ops/v1/info');
  const info: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  const version: unknown = Reflect.get(Object(info), 'version');
  return typeof version === 'string' ? version : undefined;
}

/** Returns undefined if the server has no database list or rejects the request. */
async function readDatabases(connection: Connection): Promise<string[] | undefined> {
  const response = await call(connection, 'api/v3/configure/database', {
    query: { format: 'json' },
  });
  const rows: unknown = response.ok ? await response.json() : undefined;
  if (!Array.isArray(rows)) return undefined;
  return rows.map((row: unknown) => String(Reflect.get(Object(row), 'iox::database')));
}
