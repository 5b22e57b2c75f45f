// What Linux tells of a running process; NaN where the system does not tell.
import fs from 'node:fs';

/** Clock ticks of /proc; the same on every Linux that Node runs on. */
const TICKS_PER_SEC = 100;

/** Processor time of all threads so far: tells what work costs on a busy machine, too. */
export function cpuSeconds(pid) {
  const stat = read(`/proc/${pid}/stat`);
  // The name of the program stands in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = fields.slice(11, 13).map(Number);
  return (userTicks + systemTicks) / TICKS_PER_SEC;
}

export const residentMib = (pid) => statusMib(pid, /^VmRSS:\s+(\d+)/m);

/** The most that was resident so far. */
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
