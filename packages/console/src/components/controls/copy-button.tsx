import { useEffect, useState } from 'react';
import { Icon } from './icon.js';

const SHOWN_MS = 1500;

/** Copies a text and confirms it visually and to screen readers. */
export function CopyButton(props: {
  readonly text: string | (() => string | Promise<string>);
  /** The button's text, or its accessible name when only the icon is shown. */
  readonly label: string;
  readonly isSmall?: boolean;
  readonly showsLabel?: boolean;
  readonly className?: string;
  readonly onCopied?: () => void;
}) {
  const { text, label, isSmall = true, showsLabel = false, className = '', onCopied } = props;
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
  const size = `${isSmall ? 'small' : ''} ${showsLabel ? '' : 'icon quiet'}`;
  return (
    <button
      type="button"
      className={`button ${size} ${className}`}
      aria-label={showsLabel ? undefined : label}
      title={showsLabel ? undefined : label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
      {showsLabel && (isCopied ? 'Copied' : label)}
      <span className="visually-hidden" role="status">
        {isCopied && !showsLabel ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** Copies a text. Outside a secure context the clipboard API is missing, so a selection is copied instead. */
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

/** A command with a copy button. */
export function CopyBox({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="copy-box">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
