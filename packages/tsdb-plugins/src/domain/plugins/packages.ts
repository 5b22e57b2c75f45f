import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import { isPackageRequirement } from '@plinth/tsdb-model/plugins/package-requirement.js';
import { explainFailure, requirementIn } from './install-failure.js';

/** Runs the installer with these arguments. */
export type Installer = (
  args: readonly string[],
) => Promise<{ readonly exitCode: number | undefined; readonly output: string }>;

export interface PackageDeps {
  readonly isDisabled: boolean;
  /** Rejects with `python_unavailable`. */
  readonly installer: () => Promise<Installer>;
  /**
   * Returns the absolute path of a requirements file. Throws `plugin_path_escapes`,
   * `requirements_missing` and `requirements_refused`.
   */
  readonly findRequirements: (location: string) => Promise<string>;
  readonly onInstalled: () => void;
  /** Receives the installer's output, which may quote the content of files. */
  readonly onFailed: (end: Awaited<ReturnType<Installer>>) => void;
}

/**
 * Installs Python packages, one installation at a time. Source: processing-engine, "Packages and
 * environment".
 */
export class Packages {
  readonly #deps: PackageDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: PackageDeps) {
    this.#deps = deps;
  }

  async install(packages: readonly string[]): Promise<void> {
    if (this.#deps.isDisabled) throw tsdbError('package_installation_disabled');
    for (const name of packages) {
      if (!isPackageRequirement(name)) throw tsdbError('package_name_invalid', name);
    }
    if (packages.length > 0) await this.#run(packages, () => subjectOf(packages));
  }

  async installRequirements(location: string): Promise<void> {
    if (this.#deps.isDisabled) throw tsdbError('package_installation_disabled');
    const path = await this.#deps.findRequirements(location);
    await this.#run(['-r', path], requirementIn);
  }

  /** @param nameOf returns the name of the package that could not be installed, given the installer's output. */
  async #run(args: readonly string[], nameOf: (output: string) => string): Promise<void> {
    const installing = this.#last.then(async () => {
      const install = await this.#deps.installer();
      const end = await install(args);
      const { exitCode, output } = end;
      if (exitCode !== 0) {
        this.#deps.onFailed(end);
        throw tsdbError('package_installation_failed', {
          why: explainFailure(nameOf(output), { output, exitCode }),
          exitCode,
        });
      }
      this.#deps.onInstalled();
    });
    this.#last = installing.catch(() => undefined); // The caller receives the failure; the next installation runs regardless.
    await installing;
  }
}

const subjectOf = (packages: readonly string[]): string =>
  packages.length === 1 ? `'${packages[0]}'` : `one of ${packages.length} packages`;

/** Returns the error that clients of InfluxDB expect when packages cannot be installed. */
export function noEnvironment(): TsdbError<'package_installation_failed'> {
  return tsdbError('package_installation_failed', {
    why: 'Plugin environment management is disabled: start the server with --plugin-dir',
  });
}
