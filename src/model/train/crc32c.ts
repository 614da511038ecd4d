/** The reversed Castagnoli polynomial. */
const POLYNOMIAL = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
	let crc = byte;
	for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
	return crc;
});

export function crc32c(bytes: Uint8Array): number {
	let crc = 0xffffffff;
	for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number);
	return (crc ^ 0xffffffff) >>> 0;
}

/** As TFRecord stores it: rotated and shifted, so that the CRC of data holding CRCs stays good. */
export function maskedCrc32c(bytes: Uint8Array): number {
	const crc = crc32c(bytes);
	return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
