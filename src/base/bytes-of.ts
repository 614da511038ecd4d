/** The bytes of an array, not copied. */
export const bytesOf = (data: ArrayBufferView): Uint8Array<ArrayBuffer> =>
	new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
