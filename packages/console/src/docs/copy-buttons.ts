/** Adds a button to each block of code. In a transcript, it copies the commands without their output. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLPreElement>('.prose pre')) {
    const code = block.querySelector('code')?.textContent ?? '';
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => void copy(commandsOf(code), button));
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not copied: select the text';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}

/** A transcript's commands, with their continuation lines; other code as it is. */
export function commandsOf(code: string): string {
  const lines = code.trimEnd().split('\n');
  if (!lines.some((line) => line.startsWith('$ '))) return code.trimEnd();
  let isCommand = false;
  const commands = lines.filter((line, index) => {
    const continues = isCommand && lines[index - 1]?.endsWith('\\') === true;
    isCommand = line.startsWith('$ ') || continues;
    return isCommand;
  });
  return commands.map((line) => line.replace(/^\$ /, '')).join('\n');
}
