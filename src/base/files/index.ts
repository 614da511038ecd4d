/** Atomic replacement of files and folders, and locks between processes. */

export { type Disk, disk, removeAbandoned, temporaryName, writeFully } from "./disk.js";
export { contentSha256, readJson, writeJson } from "./json.js";
export { holdingLock } from "./process-lock.js";
export {
	checkFileTarget,
	checkFolderTarget,
	checkWritable,
	replaceFile,
	replaceFolder,
	temporarily,
} from "./replace.js";
