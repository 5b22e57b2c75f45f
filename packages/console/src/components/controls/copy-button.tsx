import { useEffect, useState } from 'react';
import { Icon } from './icon.js';

const SHOWN_MS = 1500;

/** Copies a text; says so to the eye and to screen readers. */
export function CopyButton(props: {
  readonly text: string | (() => string | Promise<string>);
  /** What is copied; the button's word unless it shows its sign alone. */
  readonly label: string;
  readonly isSmall?: boolean;
  readonly showsWord?: boolean;
  readonly className?: string;
  readonly onCopied?: () => void;
}) {
  const { text, label, isSmall = true, showsWord = false, className = '', onCopied } = props;
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await copyText(typeof text === 'string' ? text : await text());
    setIsCopied(true);
    onCopied?.();
  };
  const size = `${isSmall ? 'small' : ''} ${showsWord ? '' : 'icon quiet'}`;
  return (
    <button
      type="button"
      className={`button ${size} ${className}`}
      aria-label={showsWord ? undefined : label}
      title={showsWord ? undefined : label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
      {showsWord && (isCopied ? 'Copied' : label)}
      <span className="visually-hidden" role="status">
        {isCopied && !showsWord ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** Without a secure context there is no clipboard but that of a selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** A command to be copied. */
export function CopyBox({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="copy-box">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
