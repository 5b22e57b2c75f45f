import { Command } from 'commander';
import { callOk, connectionOf, withConnection } from './connection.js';

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
    const rows = await (
      await callOk(connection, 'api/v3/configure/database', { query: { format: 'json' } })
    ).json();
    const names = Array.isArray(rows)
      ? rows.map((row: unknown) => String(Reflect.get(Object(row), 'iox::database')))
      : [];
    process.stdout.write(
      [
        `server     ${connection.host}`,
        `health     ${health} (${answerMs} ms)`,
        `version    ${String(Reflect.get(ping, 'version'))}`,
        `databases  ${names.length === 0 ? 'none yet' : names.join(', ')}`,
        '',
      ].join('\n'),
    );
  });
}
