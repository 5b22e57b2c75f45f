import type { Command } from 'commander';

/** Makes subcommands throw on wrong usage: those created separately do not inherit this setting. */
export function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).exitOverride();
  for (const child of command.commands) inherit(child, command);
  return command;
}
