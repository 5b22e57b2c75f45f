// Figures of a running process from Linux /proc; NaN on other systems.
import fs from 'node:fs';

/** Clock ticks per second in /proc, the same on every Linux that Node supports. */
const TICKS_PER_SEC = 100;

/** Returns the CPU time of all threads so far. It is a reliable measure of cost even on a busy machine. */
export function cpuSeconds(pid) {
  const stat = read(`/proc/${pid}/stat`);
  // The program name is in parentheses and may contain any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = fields.slice(11, 13).map(Number);
  return (userTicks + systemTicks) / TICKS_PER_SEC;
}

export const residentMib = (pid) => statusMib(pid, /^VmRSS:\s+(\d+)/m);

/** Returns the peak resident memory so far. */
export const peakMib = (pid) => statusMib(pid, /^VmHWM:\s+(\d+)/m);

function statusMib(pid, line) {
  return Number(line.exec(read(`/proc/${pid}/status`))?.[1]) / 1024;
}

function read(file) {
  try {
    return fs.readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
