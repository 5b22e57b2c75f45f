import { isPackageRequirement } from '../../model/package-requirement.js';
import {
  PackageInstallationDisabled,
  PackageInstallationFailed,
  PackageNameInvalid,
} from '../../processing-errors.js';
import { explainFailure } from './install-failure.js';

/** Runs the installer with these arguments. */
export type Installer = (
  args: readonly string[],
) => Promise<{ readonly exitCode: number | undefined; readonly output: string }>;

export interface PackageNeeds {
  readonly isDisabled: boolean;
  /** Rejects with `PythonUnavailable`. */
  readonly installer: () => Promise<Installer>;
  /**
   * Absolute path of a requirements file. Throws `PluginPathEscapes`, `RequirementsMissing` and `RequirementsRefused`.
   */
  readonly findRequirements: (location: string) => Promise<string>;
  readonly onInstalled: () => void;
  /** Hears what the installer said, which may be what stands in files. */
  readonly onFailed: (end: Awaited<ReturnType<Installer>>) => void;
}

/** Installs Python packages, one call after the other. Source: processing-engine, "Packages and environment". */
export class Packages {
  readonly #needs: PackageNeeds;
  #last: Promise<unknown> = Promise.resolve();

  constructor(needs: PackageNeeds) {
    this.#needs = needs;
  }

  async install(packages: readonly string[]): Promise<void> {
    if (this.#needs.isDisabled) throw new PackageInstallationDisabled();
    for (const name of packages) {
      if (!isPackageRequirement(name)) throw new PackageNameInvalid(name);
    }
    if (packages.length > 0) await this.#run(packages, (output) => output);
  }

  async installRequirements(location: string): Promise<void> {
    if (this.#needs.isDisabled) throw new PackageInstallationDisabled();
    const path = await this.#needs.findRequirements(location);
    await this.#run(['-r', path], explainFailure);
  }

  /** @param explain what of the installer's words may be told. */
  async #run(
    args: readonly string[],
    explain: (output: string, exitCode: number | undefined) => string,
  ): Promise<void> {
    const installing = this.#last.then(async () => {
      const install = await this.#needs.installer();
      const end = await install(args);
      const { exitCode, output } = end;
      if (exitCode !== 0) {
        this.#needs.onFailed(end);
        throw new PackageInstallationFailed({ why: explain(output, exitCode), exitCode });
      }
      this.#needs.onInstalled();
    });
    this.#last = installing.catch(() => undefined); // The caller sees the failure; the next in line must not.
    await installing;
  }
}

/** The word that clients know for a machine on which nothing can be installed. */
export function noEnvironment(): PackageInstallationFailed {
  return new PackageInstallationFailed({ why: 'Plugin environment management is disabled' });
}
