export function errorCode(error: unknown): string | undefined {
	const code = (error as { code?: unknown } | null)?.code;
	return typeof code === "string" ? code : undefined;
}

const reasons: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
	ENOSPC: ["the disk is full", "free some space or choose another folder"],
	EDQUOT: ["the disk quota is used up", "free some space or choose another folder"],
	EACCES: ["permission denied", "allow this user to use it or choose another folder"],
	EPERM: ["permission denied", "allow this user to use it or choose another folder"],
	EROFS: ["the file system is read-only", "choose a folder that can be written"],
	ENOTDIR: ["a part of the path is a file, not a folder", "choose another folder"],
	EEXIST: ["a part of the path is a file, not a folder", "choose another folder"],
	ENAMETOOLONG: ["the name is too long", "choose a shorter one"],
	ELOOP: ["a link leads back to itself", "check the path"],
	ENOENT: ["there is no such file or folder", "check the path"],
};

/** Explains a system error and what to do about it; undefined for any other error. */
export function systemRefusal(error: unknown): string | undefined {
	const code = errorCode(error);
	const known = code === undefined ? undefined : reasons[code];
	if (!known) return undefined;
	const { path } = error as { path?: unknown };
	const at = typeof path === "string" ? ` at ${path}` : "";
	return `${known[0]}${at} (${code}); ${known[1]}`;
}

export const explainError = (error: unknown): string =>
	systemRefusal(error) ?? (error instanceof Error ? error.message : String(error));
