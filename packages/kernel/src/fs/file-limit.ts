import { readFileSync } from 'node:fs';

/**
 * Returns the maximum number of files that the process may have open.
 * @param limits the process limits as Linux reports them; `undefined` on other systems or without a limit.
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
