import { createLogger } from '@plinth/kernel';

/**
 * Installs a handler that ends the process immediately, with a log line, after an unexpected failure. An ordinary
 * exit would first wait for all running DuckDB statements, with the port open but unresponsive. Acknowledged data is
 * on disk in any case.
 */
export function endAtOnceOnBug(): void {
  process.on('uncaughtException', (err) => {
    const log = createLogger({ level: 'fatal', destination: 2 });
    log.fatal({ err }, 'unexpected failure; the server exits');
    process.kill(process.pid, 'SIGKILL');
  });
}
