import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { messageOf } from '@plinth/kernel';
import { CommandFailed } from '@plinth/server/process/command-failed.js';

/** Reads a complete file, or standard input for `-`. */
export async function readTextInput(file: string): Promise<string> {
  if (file === '-') return await text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = messageOf(error);
    throw new CommandFailed(`cannot read ${file}: ${why}`);
  }
}
