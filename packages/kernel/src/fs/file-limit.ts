import { readFileSync } from 'node:fs';

/**
 * Files that the process may have open.
 * @param limits of the process as Linux tells them; elsewhere, or without a limit, `undefined`.
 */
export function fileLimit(limits: string | undefined = limitsOfProcess()): number | undefined {
  const [, soft] = /^Max open files +(\d+)/m.exec(limits ?? '') ?? [];
  return soft === undefined ? undefined : Number(soft);
}

function limitsOfProcess(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}
