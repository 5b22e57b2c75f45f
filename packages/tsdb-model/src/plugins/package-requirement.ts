/** Source: PEP 508, "Names" and "Extras". The length limit bounds each part. */
const NAME = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
const EXTRAS = `\\[\\s*(?:${NAME}\\s*(?:,\\s*${NAME}\\s*)*)?\\]`;
/** Source: PEP 440, "Version specifiers". */
const VERSION = '(?:===|~=|==|!=|<=|>=|<|>)\\s*[A-Za-z0-9._*+!-]+';
const VERSIONS = `${VERSION}\\s*(?:,\\s*${VERSION}\\s*)*,?\\s*`;
/** Source: PEP 508, "Environment Markers". The installer checks whether brackets are closed. */
const VARIABLE =
  '(?:python_(?:full_)?version|os_name|sys_platform|platform_(?:release|system|version|machine|python_implementation)|implementation_(?:name|version)|extra)';
const OPERAND = `(?:${VARIABLE}|"[A-Za-z0-9_.,+* -]*"|'[A-Za-z0-9_.,+* -]*')`;
const COMPARISON = '(?:===|~=|==|!=|<=|>=|<|>|not\\s+in\\b|in\\b)';
const TEST = `[(\\s]*${OPERAND}\\s*${COMPARISON}\\s*${OPERAND}[)\\s]*`;
const MARKER = `;${TEST}(?:(?:and|or)\\b${TEST})*`;
const REQUIREMENT = new RegExp(
  `^(${NAME})\\s*(?:${EXTRAS})?\\s*(?:\\(\\s*${VERSIONS}\\)|${VERSIONS})?\\s*(?:${MARKER})?$`,
);
const MAX_LENGTH = 500;

/**
 * Installers treat a text with these suffixes as a local file. Source: pip, "Requirement
 * Specifiers".
 */
const ARCHIVE = /\.(?:whl|zip|tar|tgz|tbz|txz|tlz|gz|bz2|xz|lz|lzma|egg)$/i;

/**
 * Returns whether `text` names a package in the index, with extras, versions and markers as in PEP 508. Installer
 * options, addresses and local paths are refused.
 */
export function isPackageRequirement(text: string): boolean {
  if (text.length > MAX_LENGTH || /\p{Cc}/u.test(text)) return false;
  const name = REQUIREMENT.exec(text.trim())?.[1];
  return name !== undefined && !ARCHIVE.test(text.trim()) && !ARCHIVE.test(name);
}
