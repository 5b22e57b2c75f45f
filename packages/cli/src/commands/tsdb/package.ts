import { Command } from 'commander';
import { callOk, connectionOf, withConnection } from '../connection.js';
import { print } from '../output/terminal.js';

const PATH = 'api/v3/configure/plugin_environment';

export function packageCommand(): Command {
  const install = withConnection(new Command('install'), { database: false })
    .description('install Python packages for plugins and wait for completion')
    .argument('[packages...]', 'package names with optional versions: pandas scipy==1.9.0')
    .option('-r, --requirements <file>', 'requirements file in the plugin folder of the server');
  install.action(async (packages: readonly string[]) => {
    const connection = connectionOf(install.opts());
    const requirements = install.opts()['requirements'] as string | undefined;
    if (requirements !== undefined) {
      const json = { requirements_location: requirements };
      await callOk(connection, `${PATH}/install_requirements`, { json });
    }
    if (packages.length > 0) {
      await callOk(connection, `${PATH}/install_packages`, { json: { packages } });
    }
    if (requirements === undefined && packages.length === 0) install.help({ error: true });
    print('installed\n');
  });
  return new Command('package')
    .description('install Python packages for plugins')
    .addCommand(install)
    .addHelpText('after', '\nExample:\n  plinth package install pandas scipy==1.9.0');
}
