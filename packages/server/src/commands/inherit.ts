import type { Command } from 'commander';

/** Subcommands made elsewhere do not inherit by themselves that wrong usage is an exception. */
export function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).exitOverride();
  for (const child of command.commands) inherit(child, command);
  return command;
}
