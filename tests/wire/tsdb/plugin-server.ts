import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type HttpResponse,
  type OwnServer,
  type RunningServer,
  rows as rowsOf,
  ServerInProcess,
  ServerProcess,
  temporaryFolder,
  write,
} from '../../harness/index.js';

export const isPythonHere = spawnSync('python3', ['--version']).status === 0;
/** Reason why tests that run plugins are skipped; `false` to run them. */
export const noPython = isPythonHere ? false : 'python3 is not installed';

export const TRIGGER = '/api/v3/configure/processing_engine_trigger';
export const JSON_TYPE = { 'content-type': 'application/json' };

/** A plugin with an entry point for each trigger type. */
export const ANY_TYPE = `
def process_writes(local, batches, args=None): pass
def process_scheduled_call(local, time, args=None): pass
def process_request(local, query, headers, body, args=None): return "done"
`;

/** Asserts status 200 and an empty body. */
export function assertDone(response: HttpResponse): void {
  assert.deepEqual([response.status, response.text], [200, '']);
}

export async function rows(
  server: RunningServer,
  db: string,
  q: string,
): Promise<Record<string, unknown>[]> {
  return (await rowsOf(server, db, q)) as Record<string, unknown>[];
}

interface LogRow {
  readonly log_level: string;
  readonly log_text: string;
}

/** A server with databases `db1` and `db2` and a plugin folder. */
export class PluginServer {
  readonly folder: string;
  #server: OwnServer;

  static async start(): Promise<PluginServer> {
    const folder = await temporaryFolder();
    return await PluginServer.#fill(
      folder,
      await ServerInProcess.start({ flags: flagsOf(folder) }),
    );
  }

  /** @param envFor variables that the server's child programs also read; they may contain its folder. */
  static async startProcess(
    envFor: (folder: string) => Readonly<Record<string, string>>,
  ): Promise<PluginServer> {
    const folder = await temporaryFolder();
    const options = { flags: flagsOf(folder), env: envFor(folder) };
    return await PluginServer.#fill(folder, await ServerProcess.start(options));
  }

  static async #fill(folder: string, server: OwnServer): Promise<PluginServer> {
    for (const db of ['db1', 'db2']) await write(server, { db }, 'seed f=1 1');
    return new PluginServer(folder, server);
  }

  private constructor(folder: string, server: OwnServer) {
    this.folder = folder;
    this.#server = server;
  }

  get server(): OwnServer {
    return this.#server;
  }

  /** Stops gracefully and starts again with the same data. */
  async restart(flags: readonly string[] = []): Promise<void> {
    const { dataDir } = this.#server;
    assert.equal(await this.#server.stop(), 0);
    this.#server = await ServerInProcess.start({
      flags: [...flagsOf(this.folder), ...flags],
      dataDir,
    });
  }

  async close(): Promise<void> {
    await this.#server.close();
    await rm(this.folder, { recursive: true });
  }

  async plugin(name: string, source: string): Promise<string> {
    await writeFile(join(this.folder, name), source);
    return name;
  }

  async post(path: string, body: unknown, method = 'POST'): Promise<HttpResponse> {
    const how = { method, body: JSON.stringify(body), headers: JSON_TYPE };
    return await this.#server.http.send(path, how);
  }

  async create(trigger: Readonly<Record<string, unknown>>): Promise<HttpResponse> {
    return await this.post(TRIGGER, { db: 'db1', ...trigger });
  }

  async remove(trigger_name: string, db = 'db1'): Promise<HttpResponse> {
    return await this.post(TRIGGER, { db, trigger_name, force: true }, 'DELETE');
  }

  async logOf(trigger: string, db = 'db1'): Promise<string[]> {
    const found = (await rows(
      this.#server,
      db,
      // `time` is another name of \`event_time\` that * does not show.
      `SELECT log_level, log_text FROM system.processing_engine_logs AS l WHERE trigger_name = '${trigger}' AND l.time = event_time ORDER BY time`,
    )) as unknown as LogRow[];
    return found.map(({ log_level, log_text }) => `${log_level} ${log_text}`);
  }

  /** Returns the log of a trigger as soon as a line matches. */
  async logWith(trigger: string, pattern: RegExp, db = 'db1'): Promise<string[]> {
    for (let wait = 0; wait < 2400; wait++) {
      const lines = await this.logOf(trigger, db);
      if (lines.some((line) => pattern.test(line))) return lines;
      await sleep(25);
    }
    assert.fail(
      `${pattern} is not in the log of ${trigger}: ${(await this.logOf(trigger, db)).join('\n')}`,
    );
  }
}

const flagsOf = (folder: string): string[] => ['--without-auth', '--plugin-dir', folder];

/** Logs its input; skips the tables of its own lines. */
export const ECHO_WRITES = `
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.info("call")
    for batch in table_batches:
        for row in batch["rows"]:
            influxdb3_local.info(batch["table_name"], repr(row))
`;

/** Environment for installers that may only use packages from a folder. */
export const indexOf = (wheels: string): Readonly<Record<string, string>> => ({
  PIP_FIND_LINKS: wheels,
  PIP_NO_INDEX: '1',
  UV_FIND_LINKS: wheels,
  UV_NO_INDEX: '1',
});

/** Creates a wheel, which is a zip file, with Python. */
export async function makeWheel(folder: string, name: string, version: string): Promise<void> {
  const script = `
import os, sys, zipfile
folder, name, version = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
info = f"{name}-{version}.dist-info"
with zipfile.ZipFile(os.path.join(folder, f"{name}-{version}-py3-none-any.whl"), "w") as wheel:
    wheel.writestr(f"{name}.py", f"VALUE = 'value of {name}'\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
  const made = spawnSync('python3', ['-c', script, folder, name, version]);
  assert.equal(made.status, 0, String(made.stderr));
}
