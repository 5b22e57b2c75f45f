import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { messageOf, networkMatcher } from '@plinth/kernel';
import { CLAIM_CODE_FILE } from '@plinth/server/folder/claim-code.js';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { type Connection, call, errorTextOf, failureOf } from '../connection.js';

const FIRST_TOKEN = 'api/v3/configure/token/admin';
const isLoopback = networkMatcher(['loopback']);
const STANDARD_INPUT = '-';

/**
 * Creates the first admin token. Reads a claim code only after the server has required one, so that no other server receives it.
 * @param file file with the code, or `-` for standard input
 */
export async function createFirstToken(
  connection: Connection,
  file: string | undefined,
): Promise<Response> {
  if (file !== undefined) return await send(connection, await readCode(file));
  const response = await send(connection, undefined);
  if (response.status !== 403) return response;
  const error = errorTextOf(await response.clone().text());
  if (!error.includes('claim code')) return response;
  const code = (await codeOfThisMachine(connection)) ?? (await promptForCode());
  if (code !== undefined) return await send(connection, code);
  throw new CommandFailed(
    'the server requires its claim code to create the first admin token\n' +
      `  Run this command as root or the server's OS user with --claim-code-file DATA_DIR/${CLAIM_CODE_FILE}, or use --claim-code-file - and\n` +
      '  enter the code that the server printed on its terminal.',
    EXIT.unauthenticated,
  );
}

async function send(connection: Connection, code: string | undefined): Promise<Response> {
  const headers = code === undefined ? {} : { 'x-plinth-claim-code': code };
  const response = await call(connection, FIRST_TOKEN, { method: 'POST', headers });
  if (code === undefined || (response.status !== 403 && response.status !== 429)) return response;
  const error = errorTextOf(await response.text());
  if (!error.includes('claim code')) throw failureOf(response.status, error, connection);
  throw new CommandFailed(error, EXIT.unauthenticated);
}

async function readCode(file: string): Promise<string> {
  let code: string;
  try {
    code = file === STANDARD_INPUT ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandFailed(
      `--claim-code-file: cannot read ${file}: ${messageOf(error)}`,
      EXIT.usage,
    );
  }
  const trimmed = code.trim();
  if (/^[\x21-\x7e]{1,200}$/.test(trimmed)) return trimmed;
  throw new CommandFailed(`--claim-code-file: ${file} does not contain a claim code`, EXIT.usage);
}

/** Reads the claim code file of a local server, if its data folder is set in the environment, as in a container. */
async function codeOfThisMachine({ host }: Connection): Promise<string | undefined> {
  const { hostname } = new URL(host);
  const name = hostname.replace(/^\[|\]$/g, '');
  const isOwn = name === 'localhost' || isLoopback(name);
  const dataDir = process.env['PLINTH_DATA_DIR'];
  if (!isOwn || !dataDir) return undefined;
  return await readCode(join(dataDir, CLAIM_CODE_FILE)).catch(() => undefined);
}

async function promptForCode(): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question('claim code: ')).trim() || undefined;
  } finally {
    terminal.close();
  }
}
