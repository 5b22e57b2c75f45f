import {
  PackageInstallationDisabled,
  PackageInstallationFailed,
  PackageNameInvalid,
  RequirementsMissing,
} from '../../processing-errors.js';

/** No name has one, and a process cannot be given NUL. */
const CONTROL = /\p{Cc}/u;

/** Runs the installer with these arguments. */
export type Installer = (
  args: readonly string[],
) => Promise<{ readonly exitCode: number | undefined; readonly output: string }>;

export interface PackageNeeds {
  readonly isDisabled: boolean;
  /** Rejects with `PythonUnavailable`. */
  readonly installer: () => Promise<Installer>;
  /** Absolute path of a requirements file, or `undefined` when it does not exist. Throws `PluginPathEscapes`. */
  readonly findRequirements: (location: string) => Promise<string | undefined>;
  readonly onInstalled: () => void;
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
      // An entry that begins like an option would be one.
      if (name.trim() === '' || name.trim().startsWith('-') || CONTROL.test(name)) {
        throw new PackageNameInvalid(`invalid package name: '${name}'`);
      }
    }
    if (packages.length > 0) await this.#run(packages);
  }

  async installRequirements(location: string): Promise<void> {
    if (this.#needs.isDisabled) throw new PackageInstallationDisabled();
    const path = await this.#needs.findRequirements(location);
    if (path === undefined) throw new RequirementsMissing({ path: location });
    await this.#run(['-r', path]);
  }

  async #run(args: readonly string[]): Promise<void> {
    const installing = this.#last.then(async () => {
      const install = await this.#needs.installer();
      const { exitCode, output } = await install(args);
      if (exitCode !== 0) throw new PackageInstallationFailed({ why: output, exitCode });
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
