import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.js';

const BUILD = fileURLToPath(new URL('../../../scripts/docs.mjs', import.meta.url));
/** npm's error codes for an unreachable registry. */
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;

/** Builds the documentation site if it is missing or outdated. @returns the reason if it cannot be built here */
export async function buildSite(): Promise<string | undefined> {
  try {
    await runProgram(process.execPath, [BUILD], { timeoutMs: 280_000 });
    return undefined;
  } catch (error) {
    if (error instanceof Error && NO_REGISTRY.test(error.message)) return 'no package registry';
    throw error;
  }
}
