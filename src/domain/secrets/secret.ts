/** A key of 32 bytes, as 64 hex digits or in base64; null for anything else. */
export function keyBytes(text: string): Buffer | null {
  const written = text.trim();
  if (/^[\da-f]{64}$/i.test(written)) return Buffer.from(written, 'hex');
  if (!/^[\w+/-]{43}=?$/.test(written)) return null;
  const bytes = Buffer.from(written, 'base64');
  return bytes.length === 32 ? bytes : null;
}
