/** One step of a plan, with the steps that it reads from. */
export interface PlanStep {
  readonly name: string;
  /** DuckDB's description of the step, one line each. */
  readonly details: readonly string[];
  readonly rowCount: number | undefined;
  readonly seconds: number | undefined;
  readonly inputs: readonly PlanStep[];
}

interface Box {
  readonly at: number;
  readonly lines: readonly string[];
  readonly inputs: Box[];
}

/** The boxes around the plan itself. */
const FRAME = new Set(['QUERY', 'EXPLAIN_ANALYZE']);
const ROWS = /^~?([\d,]+) rows?$/;
const SECONDS = /^\(?(\d+(?:\.\d+)?)s\)?$/;
const RULE = /^─+$/;

/**
 * Parses the boxes that DuckDB draws. Each level of the plan is a row of boxes. A box reads from the box below it and from the
 * boxes further right, up to the next box of its own row. `undefined` when the text contains no boxes.
 */
export function parsePlan(text: string): PlanStep | undefined {
  let above: readonly Box[] = [];
  let root: Box | undefined;
  const rows = text.split('\n');
  for (const [index, row] of rows.entries()) {
    const found = [...row.matchAll(/┌[─┴]+┐/g)].flatMap(({ 0: top, index: at }): Box[] => {
      const inside = rows.slice(index + 1).map((line) => line.slice(at + 1, at + top.length - 1));
      const end = rows.slice(index + 1).findIndex((line) => line[at] === '└');
      const lines = inside.slice(0, end).map((line) => line.trim());
      // The total time is drawn as a box within a box.
      const isPlan = end > 0 && row[at - 1] !== '│' && !lines[0]?.startsWith('┌');
      return isPlan ? [{ at, lines, inputs: [] }] : [];
    });
    if (found.length === 0) continue;
    root ??= found[0];
    for (const box of found) above.findLast(({ at }) => at <= box.at)?.inputs.push(box);
    above = found;
  }
  let top = root;
  while (top !== undefined && FRAME.has(top.lines[0] ?? '')) top = top.inputs[0];
  return top && stepOf(top);
}

function stepOf({ lines, inputs }: Box): PlanStep {
  const [name = '', ...rest] = lines;
  const details: string[] = [];
  let rowCount: number | undefined;
  let seconds: number | undefined;
  for (const line of rest) {
    const [, count] = ROWS.exec(line) ?? [];
    const [, time] = SECONDS.exec(line) ?? [];
    if (count !== undefined) rowCount = Number(count.replaceAll(',', ''));
    else if (time !== undefined) seconds = Math.max(seconds ?? 0, Number(time));
    else if (line !== '' && !RULE.test(line)) details.push(line);
  }
  return { name, details, rowCount, seconds, inputs: inputs.map(stepOf) };
}

export const stepsOf = (step: PlanStep): readonly PlanStep[] => [
  step,
  ...step.inputs.flatMap(stepsOf),
];
