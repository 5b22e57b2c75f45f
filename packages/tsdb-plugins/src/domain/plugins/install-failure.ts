/** Messages of pip and uv, each with its meaning. The first match is reported. */
const MEANINGS: readonly (readonly [said: RegExp, meaning: string])[] = [
  [
    /invalid requirement|couldn't parse requirement|unsupported requirement|the start of a requirement/i,
    'is not a valid requirement',
  ],
  [
    /no matching distribution|no solution found|was not found in the package registry/i,
    'names an unknown package or version',
  ],
  [
    /conflicting dependencies|ResolutionImpossible|incompatible|unsatisfiable/i,
    'conflicts with another requirement',
  ],
  [
    /do not match the hashes|hash mismatch|requires? .*hashes/i,
    'does not match the hash of the package',
  ],
  [
    /not installable|does not exist|no such file|not found:|could not open/i,
    'names a file that does not exist or is not a package',
  ],
  [
    /permission denied|read-only file system|no space left/i,
    'cannot be written to the package folder',
  ],
  [
    /name resolution|connection|retries|timed? ?out|certificate|proxy/i,
    'cannot be downloaded: the package index is unreachable',
  ],
  [/failed (?:to build|building)|subprocess-exited|build backend/i, 'cannot be built'],
];

/** Matches `line 3` of pip and `file:3:1` of uv. */
const LINE = /\bline (\d{1,7})\b|:(\d{1,7}):\d{1,7}\s*$/m;

/** Names the line of the requirements file to which the installer's output refers. */
export function requirementIn(output: string): string {
  const [, ofWords, ofPlace] = LINE.exec(output) ?? [];
  const line = ofWords ?? ofPlace;
  return line === undefined ? 'a requirement' : `the requirement in line ${line}`;
}

/**
 * Explains a failed installation without quoting the installer. Its output repeats lines of
 * unreadable files, which can be any files, and shows paths of this machine.
 */
export function explainFailure(
  what: string,
  end: { readonly output: string; readonly exitCode: number | undefined },
): string {
  const meaning = MEANINGS.find(([said]) => said.test(end.output))?.[1] ?? 'cannot be installed';
  const how =
    end.exitCode === undefined ? 'timed out or did not start' : `exit code ${end.exitCode}`;
  return `${what} ${meaning} (${how}); see the server log for the installer's output`;
}
