/** What installers say when something goes wrong, and what it means; the first that fits is told. */
const MEANINGS: readonly (readonly [said: RegExp, meaning: string])[] = [
  [
    /invalid requirement|couldn't parse requirement|unsupported requirement|the start of a requirement/i,
    'is no requirement',
  ],
  [
    /no matching distribution|no solution found|was not found in the package registry/i,
    'names a package or version that is not there',
  ],
  [
    /conflicting dependencies|ResolutionImpossible|incompatible|unsatisfiable/i,
    'contradicts another',
  ],
  [
    /do not match the hashes|hash mismatch|requires? .*hashes/i,
    'has another hash than the package',
  ],
  [
    /not installable|does not exist|no such file|not found:|could not open/i,
    'names a file that is not there or is no package',
  ],
  [
    /permission denied|read-only file system|no space left/i,
    'cannot be stored where packages are kept',
  ],
  [
    /name resolution|connection|retries|timed? ?out|certificate|proxy/i,
    'cannot be fetched: its index is not reached',
  ],
  [/failed (?:to build|building)|subprocess-exited|build backend/i, 'cannot be built'],
];

/** `line 3` of pip; `file:3:1` of uv. */
const LINE = /\bline (\d{1,7})\b|:(\d{1,7}):\d{1,7}\s*$/m;

/** Which requirement of a file the installer speaks of. */
export function requirementIn(output: string): string {
  const [, ofWords, ofPlace] = LINE.exec(output) ?? [];
  const line = ofWords ?? ofPlace;
  return line === undefined ? 'a requirement' : `the requirement in line ${line}`;
}

/**
 * Why something could not be installed, without a word of the installer: it repeats lines of files that it cannot read,
 * whatever files they are, and shows where things are on this machine.
 */
export function explainFailure(
  what: string,
  end: { readonly output: string; readonly exitCode: number | undefined },
): string {
  const meaning = MEANINGS.find(([said]) => said.test(end.output))?.[1] ?? 'cannot be installed';
  const how =
    end.exitCode === undefined
      ? 'did not end in time or was not started'
      : `exit code ${end.exitCode}`;
  return `${what} ${meaning} (${how}); the log of the server has the installer's own words`;
}
