import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import type { TableOptions } from "../options.js";
import { checkCase, folderOf, formatCases, refused, rowsOf } from "../testing/format-cases.js";
import { load } from "../testing/load.js";
import { openCsv, openParquetRecords } from "./index.js";

const header = String.raw`a.csv: patient,date,icd9\n`;
const one = String.raw`${header}a,2020-01-01,4019\n`;
const claims = String.raw`claims.csv: patient,date,icd9\nb,2020-01-02,25000\na,2020-01-01,4019\nb,1970-01-02,V270\n`;
const wide = String.raw`a.csv: DESYNPUF_ID,CLM_FROM_DT,ADMTNG_ICD9_DGNS_CD,ICD9_DGNS_CD_1,ICD9_DGNS_CD_2,ICD9_PRCDR_CD_1\nb,20080302,4280,4280,25000,3722\na,20080101,,4019,NA,\nb,20080401,,,,\nb,20080402,, 41401 ,4019,\n`;
const offsets = String.raw`a.csv: patientunitstayid,diagnosisoffset,icd9code\n1,720,"491.20, J44.9"\n1,-90,\n1,360,E888.9\n2,0,"V58.67,,I10, 038"\n`;
const synthea = String.raw`conditions.csv: START,STOP,PATIENT,ENCOUNTER,CODE,DESCRIPTION\n2020-01-02,,a,e,44054006,Diabetes\n2020-01-03,,a,e,44054006,Diabetes (disorder)\n2020-01-04,,b,e,44054006,Diabetes (disorder)\n | medications.csv: START,STOP,PATIENT,CODE,DESCRIPTION\n2020-01-02T05:00:00Z,,a,860975,Metformin 500 MG\n`;
const stays = String.raw`a.csv: hadm_id,icd9_code\n2,4019\n1,25000\n2,\n2,V270\n | admissions.csv: subject_id,hadm_id,admittime,diagnosis\np,1,2020-01-01,x\nq,2,2020-01-02 12:00:00,y\nq,2,2020-01-02 12:00:00,z\n | twice.csv: subject_id,hadm_id,admittime\np,1,2020-01-01\np,1,2020-01-02\n | less.csv: subject_id,hadm_id,admittime\np,1,2020-01-01\n`;
const people = String.raw`${one} | p.csv: id,is_male,born,year,died,sex\n1,0,1950-02-01,1950,,\n2,1,,,2010-01-01,\n3,,,1960,,\n`;
const level = String.raw`a.csv: who\twhen\twhat\tof\tsort\tlevel\nx\t31/01/2020\tA\thttp://loinc.org/\tother\t1.5\nx\t01/02/2020\tB\town\tDrug\t<5\nx\t01/02/2020\tC\tATC\tdiagnosis\t\n`;

const stay = String.raw`a.csv: patient,minute,icd9\na,36,4019\n`;
const inMinutes = '"time": "minute", "timeIs": "minutes", "people": "p.csv"';

const readings = String.raw`
a folder without options | ${claims} | prescriptions.csv: patient,date,drug,atc,days_supply\na,2020-01-03,Metformin,A10BA02,30\nb,2020-01-03,metformin,A10BA02,30\nb,2020-01-04,Metformin,A10BA02,30\n | people.csv: patient,sex,birth,death\na,F,1960-01-01,\nb,male,1970-01-02,2020-06-01\nc,,,\n | coverage.csv: patient,from,to\na,2019-01-01,2020-12-31\n | truth.json: {} | axis: dates | records: b 18263 25000 ICD9CM diagnosis ; a 18262 4019 ICD9CM diagnosis ; b 1 V270 ICD9CM diagnosis ; a 18264 A10BA02 ATC drug ; b 18264 A10BA02 ATC drug ; b 18265 A10BA02 ATC drug | people: a -3653 female ; b 1 male 18414 ; c | names: ATC A10BA02 Metformin | notes: left alone in the folder: coverage.csv, truth.json & time is date (date), code is icd9 (ICD9CM)
columns in any case, and systems by row | a.csv: SUBJECT_ID;Chartdate;ICD_CODE;ICD_VERSION\n1;2020-01-01;4019;9\n1;2020-01-01;I10; 10 \n | records: 1 18262 4019 ICD9CM diagnosis ; 1 18262 I10 ICD10CM diagnosis
every field of several columns of codes | ${wide} | {"code": "icd9_dgns_cd_*"} | records: b 13940 4280 ICD9CM diagnosis ; b 13940 25000 ICD9CM diagnosis ; a 13879 4019 ICD9CM diagnosis ; b 13971 41401 ICD9CM diagnosis ; b 13971 4019 ICD9CM diagnosis | notes: code is ICD9_DGNS_CD_1 and ICD9_DGNS_CD_2 (ICD9CM) & a.csv: 1 row has no code: left out
columns of codes of two systems | ${wide} | {"code": ["*PRCDR_CD*", "ICD9_DGNS_CD_1", "*_1"]} | records(code system kind): 3722 ICD9Proc procedure ; 4280 ICD9CM diagnosis ; 4019 ICD9CM diagnosis ; 41401 ICD9CM diagnosis | notes: (ICD9Proc and ICD9CM)
a system for columns of codes | ${wide} | {"code": "ICD9_PRCDR_CD_*", "system": "icd10"} | records(code system): 3722 ICD10CM
people of CMS | ${one} | p.csv: DESYNPUF_ID,BENE_BIRTH_DT,BENE_DEATH_DT,BENE_SEX_IDENT_CD\n1,19230501,,1\n2,19430101,20090801,2\n | {"people": "p.csv"} | people: 1 -17047 male ; 2 -9862 female 14457 | notes: p.csv: 2 people; patient is DESYNPUF_ID, sex is BENE_SEX_IDENT_CD (1 female, 1 male, 0 unknown), birth is BENE_BIRTH_DT (2 known), death is BENE_DEATH_DT (1 known)
people of MIMIC-IV | ${one} | p.csv: subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,52,2180,2014 - 2016,\n2,M,,,,\n | {"people": "p.csv"} | people: 1 57890 female ; 2 male | notes: birth is the year in anchor_year - anchor_age (1 July) (1 known)
columns of people that options name | ${people} | {"people": "p.csv", "sex": "is_male", "birth": "born", "death": "died"} | people(sex): null ; male ; null | warnings: p.csv: values of is_male that are read as unknown: "0" (1); as in ISO 5218, 1 is read as male and 2 as female: if the values mean something else, say what each means with ${"`sexValues`"}: VALUE=female,VALUE=male,VALUE=unknown
values of sex that are explained | ${people} | {"people": "p.csv", "sex": "is_male", "birth": "born", "death": "died", "sexValues": {"0": "female"}} | people: 1 -7274 female ; 2 male 14610 ; 3 | warnings: none
values of sex that mean unknown | ${people} | {"people": "p.csv", "sex": "is_male", "sexValues": {"0": "female", "1": null}} | people(sex): female ; null ; null | warnings: none
years of birth | ${people} | {"people": "p.csv", "birthYear": "year"} | people(birth): -7124 ; null ; -3471
births in the date format or in ISO | ${header}a,31/01/2020,1\n | p.csv: patient,dob\na,02/01/1970\nb,1970-01-03\n | {"people": "p.csv", "dateFormat": "%d/%m/%Y"} | people(birth): 1 ; 2
splits | ${one} | p.csv: patient,split\na,Train\nb,tuning\nc,held_out\nd,NA\n | {"people": "p.csv"} | people(split): train ; valid ; test ; null
fields of several codes, ICD by form | ${offsets} | {"separator": ",", "system": "icd", "timeIs": "minutes"} | axis: days | records(patient time code system): 1 0.5 491.20 ICD9CM ; 1 0.5 J44.9 ICD10CM ; 1 0.25 E888.9 ICD9CM ; 2 0 V58.67 ICD9CM ; 2 0 I10 ICD10CM ; 2 0 038 ICD9CM | notes: (minutes), code is icd9code (ICD9CM or ICD10CM by form) | warnings: none
fields that look like several codes | ${offsets} | {"system": "icd", "timeIs": "minutes"} | warnings: a.csv: 1 field looks like several codes, and will not be found in a map; split them with ${"`separator`"} ","
hours | a.csv: patient,hour,icd9\na,36,4019\n | {"time": "hour", "timeIs": "hours"} | records(time): 1.5
time_minutes, which states its unit | a.csv: patient,time_minutes,icd9\na,36,4019\n | axis: days | records(time): 0.025
time_hours, which states its unit | a.csv: patient,time_hours,icd9\na,36,4019\n | axis: days | records(time): 1.5
time_days, which states its unit | a.csv: patient,time_days,icd9\na,36,4019\n | axis: days | records(time): 36
start_minutes, which states its unit | a.csv: patient,start_minutes,icd9\na,36,4019\n | axis: days | records(time): 0.025
start_hours, which states its unit | a.csv: patient,start_hours,icd9\na,36,4019\n | axis: days | records(time): 1.5
start_days, which states its unit | a.csv: patient,start_days,icd9\na,36,4019\n | axis: days | records(time): 36
births by an age, hidden or missing | ${stay} | p.csv: patient,age\na,20\nb,> 89\nc,\n | {${inMinutes}, "age": "age"} | people(birth): -7305 ; -32872.5 ; null
births by an age in days | ${stay} | p.csv: patient,age_days\na,20\n | {${inMinutes}, "age": "age_days"} | people(birth): -20
births by an age in years | ${stay} | p.csv: patient,age_years\na,20\n | {${inMinutes}, "age": "age_years"} | people(birth): -7305
an age that no option names | ${stay} | p.csv: patient,sex,age\na,F,20\n | {${inMinutes}} | people(birth): null | notes: p.csv: age was not read, and no birth is known; if it is the age in years at time 0, pass ${"`age`"} age
names from a column, and the system of drugs | ${synthea} | {"system": "snomed", "name": "DESCRIPTION", "drugSystem": "rxnorm"} | names: SNOMED 44054006 Diabetes (disorder) ; RxNorm 860975 Metformin 500 MG
drugs without a system of their codes | ${synthea} | {"system": "snomed", "name": "DESCRIPTION"} | records(code system): 44054006 SNOMED ; 44054006 SNOMED ; 44054006 SNOMED ; Metformin 500 MG Name | notes: CODE was not read & see --drug-system
ages in days that could be years | a.csv: patient,age_days,icd9\na,50,4019\na,61.5,4019\n | warnings: a.csv: nobody is older than 61.5 days; if the ages are in years, call their column age, and pass ${"`timeIs`"} age-years
ages in years | a.csv: patient,age,icd9\na,50,4019\na,61.5,4019\n | {"timeIs": "age-years"} | warnings: none
columns that options name | ${level} | {"patient": "who", "time": "WHEN", "code": "what", "system": "of", "kind": "sort", "value": "level", "dateFormat": "%d/%m/%Y", "allowSystems": ["Own"]} | records: x 18292 A LOINC other 1.5 ; x 18293 B Own drug ; x 18293 C ATC diagnosis | notes: 1 value is no number: left empty
the system icd, by the form of the code | a.csv: patient,date,code,system\na,20200101,E888.9,icd\na,20200101,E11.9,ICD\na,20200101,250.00,icd\na,20200101,250.00,phecode\n | {"allowSystems": ["Icd"]} | records(code system kind): E888.9 ICD9CM diagnosis ; E11.9 ICD10CM diagnosis ; 250.00 ICD9CM diagnosis ; 250.00 PheCode diagnosis
a known system for all rows | a.csv: patient,date,code\na,20200101,1\n | {"system": "phecodes"} | records(code system kind): 1 PheCode diagnosis
an allowed system for all rows | a.csv: patient,date,code\na,20200101,1\n | {"system": "own", "allowSystems": ["own"]} | records(code system kind): 1 own other
a system that is also a column | ${one} | {"system": "icd9"} | records(system): ICD9CM
times of day after plain dates | ${header}a,2020-01-31,1\na,2020-01-31 12:00:00,1\na,2020-02-01T06:00:00+02:00,1\na,1900-01-01,1\n | records(time): 18292 ; 18292.5 ; ${18293 + 4 / 24} ; -25567
plain dates, with that of DuckDB for words | ${header}a,2020-01-31,1\na,1900-01-01,1\n | records(time): 18292 ; -25567
years of shifted dates | ${header}a,2020-01-31,1\na,2187-03-04,1\n | records(time): 18292 ; 79320
days from any origin | a.csv: patient,time,icd9\np,-700000,250\n | {"timeIs": "days"} | axis: days | records(time): -700000 | people:
ages without births | a.csv: patient,age_days,phecode\na,365.25,1\na,10,2\na,400,3\n | axis: days | records(time): 365.25 ; 10 ; 400 | people: a 0
ages in years, also of deaths | a.csv: patient,age,phecode\na,2,1\n | p.csv: patient,sex,birth,death\na,F,1960-01-01,60\n | {"timeIs": "age-years", "people": "p.csv"} | records(time): 730.5 | people: a female 21915 ; a 0 | notes: birth was not read
time and patient from another table | ${stays} | {"join": "admissions.csv", "on": "HADM_ID"} | records(patient time code): q 18263.5 4019 ; p 18262 25000 ; q 18263.5 V270 | notes: time is admittime of & admissions.csv & 1 row has no code
drugs by name | ${one} | d.csv: patient,startdate,drug\na,2020-01-01,Aspirin\n | {"drugsFile": "d.csv"} | records(code system kind): 4019 ICD9CM diagnosis ; Aspirin Name drug | names: Name Aspirin Aspirin
drugs by code, or else by name | ${one} | d.csv: patient,startdate,drug,ndc\na,2020-01-01,Aspirin,0\na,2020-01-01,Iron,0012\na,2020-01-01,,\n | {"drugsFile": "d.csv"} | records(code system): 4019 ICD9CM ; Aspirin Name ; 0012 NDC | names: NDC 0012 Iron ; Name Aspirin Aspirin | notes: 1 row has no code: left out & 1 row has no ndc: known by name instead
drugs with a column of systems | ${one} | d.csv: patient,date,code,vocabulary_id\na,2020-01-01,1,RxNorm\n | {"drugsFile": "d.csv"} | records(code system kind): 4019 ICD9CM diagnosis ; 1 RxNorm drug
names of codes in every system | a.csv: patient,date,code,system\na,20200101,1,icd9\na,20200101,1,atc\na,20200101,2,atc\n | n.csv: code,name,category,kind\n1,One,numbers,other\n3,Three\n | {"names": "n.csv"} | names: ATC 1 One numbers other ; ICD9CM 1 One numbers other
several files in the order of their names | x1.csv: patient,date,icd9\na,2020-01-01,1\n | x2.csv.gz: patient,date,icd9\na,2020-01-01,2\n | x3.tsv: note\ticd9\tpatient\tdate\nx\t3\ta\t2020-01-01\n | it's.txt: not read | records(code): 1 ; 2 ; 3
files whose names differ in case alone | A.csv: patient,date,icd9\na,2020-01-01,250\n | ./a.csv: patient,date,icd9\nb,2020-01-01,401\n | records(patient code): a 250 ; b 401
`;
test.each(formatCases(readings))("reads %s", (_, cells) => checkCase(cells, openCsv));

const day = String.raw`a.csv: patient,date,icd9\na,2020-01-31,1\na`;
const year = "expected a year between 1800 and 2300";
const refusals = String.raw`
header only | ${header} | refused: contains no rows
no codes | ${header}a,2020-01-01,\na,2020-01-01,NULL\n | refused: no row has a code
no time | ${header}a,2020-01-01,1\n\na,,1\n | refused: a.csv: line 4: date is empty
no patient | ${header}a,2020-01-01,1\n ,2020-01-01,1\n | refused: line 3: patient is empty
no date | ${header}a,2020-02-30,1\n | refused: line 2: date is "2020-02-30" & dateFormat
other dates | ${header}a,31/01/2020,1\n | refused: "31/01/2020" & ${"`dateFormat`"} %d/%m/%Y
numbers | ${header}a,3401,1\n | refused: "3401", a number & ${"`timeIs`"} age-days
no numbers | ${header}a,x,1\n | {"timeIs": "days"} | refused: date is "x"; expected a finite number
infinity | ${header}a,inf,1\n | {"timeIs": "days"} | refused: expected a finite number
a day that overflows | ${header}a,1,1\na,1e300,1\n | {"timeIs": "days"} | refused: a.csv: line 3: date is "1e300"; expected a day from -10000000000 to 10000000000
an age in days | ${header}a,1,1\na,1e300,1\n | {"timeIs": "age-days"} | refused: a.csv: line 3: date is "1e300"; expected an age from 0 to 120 years (age-days)
an age in years | ${header}a,201,1\n | {"timeIs": "age-years"} | refused: line 2: date is "201"; expected an age from 0 to 120 years (age-years), or pass ${"`timeIs`"} age-days
an age below 0 | ${header}a,-1e300,1\n | {"timeIs": "age-days"} | refused: from 0 to 120 years
a word | ${day},infinity,1\n | refused: line 3: date is "infinity"
epoch | ${day},epoch,1\n | refused: line 3: date is "epoch"
a short year | ${day},1/2/20,1\n | refused: a.csv: line 3: date is "1/2/20"; expected a date such as
the year 1 | ${day},0001-02-20,1\n | refused: line 3: date is "0001-02-20"; ${year}
the year 20 | ${day},0020-01-02,1\n | refused: line 3: date is "0020-01-02"; ${year}
the year 9999 | ${day},9999-12-31,1\n | refused: line 3: date is "9999-12-31"; ${year}
the year 1799 | ${day},17991231,1\n | refused: line 3: date is "17991231"; ${year}
the year 2301 | ${day},2301-01-01 00:00:00,1\n | refused: line 3: date is "2301-01-01 00:00:00"; ${year}
the year 20 in a format | ${day},0020-01-02,1\n | {"dateFormat": "%Y-%m-%d"} | refused: ${year}
another format | ${one} | {"dateFormat": "%d.%m.%Y"} | refused: %d.%m.%Y
a wrong format | ${one} | {"dateFormat": "%Q"} | refused: cannot be understood
no format | ${one} | {"dateFormat": "dd"} | refused: has no field
ragged rows | ${header}a,2020-01-01,1\na,2020-01-01\n | refused: line 3 has 2 fields; expected 3
no column of codes | a.csv: patient,date,x\na,2020-01-01,1\n | refused: the code & date, x
no column of times | a.csv: patient,icd9\na,1\n | refused: the time & join
no column of patients | ${stays} | refused: hold the patient
an absent column | ${one} | {"code": "x"} | refused: "x" (${"`code`"}) & icd9
an absent pattern | ${wide} | {"code": "ICD8_*"} | refused: no column matches "ICD8_*" (${"`code`"})
no system | a.csv: patient,date,code\na,20200101,1\n | refused: which code system & ${"`system`"} icd9
an unknown system | ${one} | {"system": "dog"} | refused: "dog" & ${"`allowSystems`"} dog
an unknown system in a row | a.csv: patient,date,code,system\na,20200101,1,atc\na,20200101,1,dog\n | refused: line 3: system is "dog" & allowSystems
no system in a row | a.csv: patient,date,code,system\na,20200101,1,\n | refused: line 2: system is empty
an unknown kind | a.csv: patient,date,icd9,kind\na,20200101,1,dog\n | {"kind": "kind"} | refused: line 2: kind is not one of diagnosis, drug, procedure, laboratory, other
two columns of codes | a.csv: patient,date,icd9,icd10\na,20200101,1,2\n | refused: ambiguous columns icd9 and icd10 & code
an unknown unit | ${one} | {"timeIs": "weeks"} | refused: "weeks"; expected one of date
a long delimiter | ${one} | {"delimiter": "||"} | refused: one character
no separator | ${offsets} | {"separator": ""} | refused: ${"`separator`"} is empty
a date with several codes | ${wide.replace("20080402", "soon")} | {"code": "ICD9_DGNS_CD_*"} | refused: a.csv: line 5: CLM_FROM_DT is "soon"
codes of a joined table | a.csv: stay,dx_1\n0,4019\n | s.csv: stay,patient,date,dx_2\n0,p,2020-01-01,1\n | {"code": "dx_*", "system": "icd9", "join": "s.csv", "on": "stay"} | refused: dx_2 is a column of & where a row has several codes, expected all in
a join with two | ${stays} | {"join": "twice.csv", "on": "hadm_id"} | refused: hadm_id 1 stands in rows that differ
a join with none | ${stays} | {"join": "less.csv", "on": "hadm_id"} | refused: a.csv: line 2: hadm_id "2" is not in & less.csv
a join on nothing | ${stays} | {"join": "less.csv", "on": "x"} | refused: named "x" (${"`on`"})
half a join | ${stays} | {"join": "less.csv"} | refused: go together
two tables of records | ${claims} | Events.csv: patient,date,icd9\n | refused: ambiguous files
files that lack a column | x1.csv: patient,date,icd9\na,2020-01-01,1\n | x2.csv: patient,date,icd9,system\na,2020-01-01,3,icd9\n | refused: x1.csv has no column system, which is read from & x2.csv; it has patient, date, icd9: expected the columns that are read in every file
only Parquet in a folder | codes.csv: code,name\n1,one\n | claims.parquet: SELECT 1 AS patient | refused: holds claims.parquet; read it with ${"`format`"} parquet
nothing in a folder | notes.txt: nothing | refused: holds no .csv
drugs without a system | ${one} | d.csv: patient,date,code\na,2020-01-01,1\n | {"drugsFile": "d.csv"} | refused: rename the column to atc
no drugs | ${one} | d.csv: patient,date,dose\na,2020-01-01,1\n | {"drugsFile": "d.csv"} | refused: the drug & dose
no date of a drug | ${one} | d.csv: patient,date,atc\na,2020-99-01,1\n | {"drugsFile": "d.csv"} | refused: d.csv: line 2 & 2020-99-01
the year of a drug | ${one} | d.csv: patient,date,drug\na,9999-12-31,x\n | {"drugsFile": "d.csv"} | refused: d.csv: line 2: date is "9999-12-31"; expected a year
the system of drugs | ${synthea} | {"system": "snomed", "drugSystem": "drugs"} | refused: ${"`drugSystem`"} "drugs" is not a code system
a name for several codes | ${synthea} | {"system": "snomed", "name": "DESCRIPTION", "separator": ","} | refused: ${"`name`"} names one column
a sex | ${one} | p.csv: patient,sex\na,F\nb,x\n | {"people": "p.csv"} | refused: p.csv: line 3: sex is not a word
a birth | ${one} | p.csv: patient,birth\na,1960-13-01\n | {"people": "p.csv"} | refused: line 2: birth is "1960-13-01"
the year of a birth | ${one} | p.csv: patient,birth\na,1960-01-01\nb,0060-01-01\n | {"people": "p.csv"} | refused: p.csv: line 3: birth is "0060-01-01"; ${year}
a death | ${one} | p.csv: patient,death\na,1960\n | {"people": "p.csv"} | refused: line 2: death is "1960", a number
a split | ${one} | p.csv: patient,split\na,dog\n | {"people": "p.csv"} | refused: split is not one of train, valid, test
a person without an id | ${one} | p.csv: patient,sex\n,F\n | {"people": "p.csv"} | refused: line 2: patient is empty
people without facts | ${one} | p.csv: patient,height\na,1\n | {"people": "p.csv"} | refused: sex, birth, death or split & height
people without ids | ${one} | p.csv: sex,birth\nF,1960-01-01\n | {"people": "p.csv"} | refused: hold the patient
half a person | ${one} | p.csv: patient,sex\na\n | {"people": "p.csv"} | refused: line 2 has 1 field
an absent column of sex | ${people} | {"people": "p.csv", "sex": "Sexx"} | refused: no column is named "Sexx" (${"`sex`"})
two columns of births | ${people} | {"people": "p.csv", "birth": "born", "birthYear": "year"} | refused: ${"`birth` and `birthYear`"}
a year of birth | ${people.replace("1960", "60")} | {"people": "p.csv", "birthYear": "year"} | refused: p.csv: line 4: year is "60"; expected a year between
an age of 130 | ${stay} | p.csv: patient,age\na,130\n | {${inMinutes}, "age": "age"} | refused: age is "130"; expected an age from 0 to 120 years (age-years)
an age in months | ${stay} | p.csv: patient,age_months\na,20\n | {${inMinutes}, "age": "age_months"} | refused: states months, and ${"`age`"} is in years or days; convert the ages
an age in weeks | ${stay} | p.csv: patient,age_weeks\na,20\n | {${inMinutes}, "age": "age_weeks"} | refused: states weeks, and ${"`age`"} is in years or days
an age for dates | ${one} | p.csv: patient,age\na,50\n | {"people": "p.csv", "age": "age"} | refused: ${"`age`"} is the age at time 0, and the records have dates; name a column with ${"`birth`"} or ${"`birthYear`"}
an age and a birth | ${one} | p.csv: patient,age,birth\na,50,1970-01-01\n | {"people": "p.csv", "age": "age", "birth": "birth"} | refused: ${"`birth`"} and ${"`age`"} each name a column of the birth; choose one
days of people for dates | ${one} | p.csv: patient,birth\na,1970-01-01\n | {"people": "p.csv", "peopleTimeIs": "days"} | refused: ${"`peopleTimeIs`"} is days, but the times of the records are date: dates, ages and other numbers cannot be mixed; expected date
deaths in weeks | ${stay} | p.csv: patient,death_weeks\na,9\n | {${inMinutes}, "death": "death_weeks", "peopleTimeIs": "days"} | refused: the name of column death_weeks states weeks, a unit that is not supported: convert the times to days, but its times are read in days; rename the column if they are days
time_minutes as days | a.csv: patient,time_minutes,icd9\na,36,4019\n | {"time": "time_minutes", "timeIs": "days"} | refused: states minutes, but ${"`timeIs`"} is days; pass ${"`timeIs`"} minutes
age_days as age-years | a.csv: patient,age_days,icd9\na,36,4019\n | {"time": "age_days", "timeIs": "age-years"} | refused: states age-days, but ${"`timeIs`"} is age-years
time_seconds as minutes | a.csv: patient,time_seconds,icd9\na,36,4019\n | {"time": "time_seconds", "timeIs": "minutes"} | refused: states seconds, a unit that is not supported: convert the times to days, but ${"`timeIs`"} is minutes; rename the column if its times are minutes
time_weeks as days | a.csv: patient,time_weeks,icd9\na,36,4019\n | {"time": "time_weeks", "timeIs": "days"} | refused: states weeks, a unit that is not supported
time_months as days | a.csv: patient,time_months,icd9\na,36,4019\n | {"time": "time_months", "timeIs": "days"} | refused: states months, a unit that is not supported
a sex without people | ${one} | {"sex": "sex"} | refused: ${"`sex`"} names a column of the people
`;
test.each(formatCases(refusals))("refuses %s", (_, cells) => checkCase(cells, openCsv));

const row = "a.parquet: SELECT 'a' AS patient, DATE '2020-01-01' AS date, '1' AS icd9";
const parquet = String.raw`
typed dates and numbers | claims.parquet: SELECT * FROM (VALUES (7, DATE '2020-01-02', '25000'), (8, DATE '2020-01-01', NULL)) t(patient, date, icd9) | prescriptions.parquet: SELECT 7::DOUBLE AS patient, TIMESTAMPTZ '2020-01-03 12:00:00+00' AS date, 'x' AS drug, 406::BIGINT AS rxnorm | people.parquet: SELECT 7::UTINYINT AS patient, 8532 AS gender_concept_id, TIMESTAMP '1970-01-02' AS birth_datetime, NULL::DATE AS death | records: 7 18263 25000 ICD9CM diagnosis ; 7 18264.5 406 RxNorm drug | people: 7 1 female | notes: 1 row has no code: left out
dates as numbers | ${row.replace("DATE '2020-01-01'", "20200101")} | {"dateFormat": "%Y%m%d"} | records(time): 18262
codes as fractions | ${row.replace("'1'", "250.1::DOUBLE")} | refused: icd9 is of type DOUBLE & as text
codes as lists | ${row.replace("'1'", "[1]")} | refused: INTEGER[]
numbers for dates | ${row.replace("DATE '2020-01-01'", "3401")} | refused: date is of type INTEGER & timeIs
no date | ${row.replace("DATE '2020-01-01'", "NULL::DATE")} | refused: a.parquet: row 1: date is empty
infinity | ${row.replace("2020-01-01", "infinity")} | refused: a.parquet: row 1: date is
the year 9999 | ${row.replace("2020-01-01", "9999-12-31")} | refused: row 1: date is "9999-12-31"; expected
the year 294300 | ${row.replace("2020-01-01", "294300-01-01")} | refused: row 1: date is "294300-01-01"; expected
dates for days | ${row} | {"timeIs": "days"} | refused: type DATE & days
no rows | ${row} LIMIT 0 | refused: contains no rows
text | a.csv: patient\n | refused: ${"`format`"} csv
only text in a folder | diagnoses.csv.gz: | codes.parquet: SELECT 1 AS code | refused: holds diagnoses.csv.gz; read it with ${"`format`"} csv
nothing in a folder | notes.txt: nothing | refused: holds no .parquet file
`;
test.each(formatCases(parquet))("Parquet: %s", (_, cells) => checkCase(cells, openParquetRecords));

test("keeps the order of several columns of codes in a join", () => {
	const rows = Array.from({ length: 200 }, (_, at) => `${at % 3},${100 + at},${400 + at}`);
	return checkCase(
		[
			String.raw`a.csv: stay,dx_1,dx_2\n${rows.join("\\n")}\n`,
			String.raw`stays.csv: stay,patient,date\n0,p,2020-01-01\n1,p,2020-01-02\n2,q,2020-01-03\n`,
			'{"code": "dx_*", "system": "icd9", "join": "stays.csv", "on": "stay"}',
			`records(code): ${rows.flatMap((row) => row.split(",").slice(1)).join(" ; ")}`,
		],
		openCsv,
	);
});

test("lists of files and patterns", async () => {
	const folder = await folderOf({
		"a.csv": "patient,date,icd9\n1,2020-01-01,1\n",
		"b.csv": "patient,date,icd9\n2,2020-01-01,2\n",
		"p8.csv": "patient,sex,birth\n1,F,1950-01-01\n",
		"p9.csv": "patient,sex,death\n1,F,2021-01-01\n2,M,\n",
		"d1.csv": "patient,date,atc\n1,2020-01-01,A10BA02\n",
		"d2.csv": "patient,date,drug\n2,2020-01-01,Insulin\n",
	});
	const at = (...names: string[]) => names.map((name) => join(folder, name));
	const reading = (paths: string | readonly string[], options: TableOptions = {}) =>
		openCsv(paths, options).then((source) => load(source));
	const pattern = join(folder, "[ab]*.csv*");
	expect(rowsOf((await reading(pattern)).records, "code")).toEqual(["1", "2"]);
	const files = { people: at("p8.csv", "p9.csv"), drugsFile: at("d1.csv", "d2.csv") };
	const { records, people } = await reading(at("b.csv", "a.csv"), files);
	expect(rowsOf(records, "code")).toEqual(["2", "1", "A10BA02", "Insulin"]);
	expect(rowsOf(people, "patient sex")).toEqual(["1 female", "1 female", "2 male"]);
	expect(people[2]?.place).toMatch(/p9\.csv: row 2$/);
	await refused(reading([...at("a.csv"), pattern]), "a.csv is given twice", "name it once");
	const twice = { people: at("p8.csv", "p8.csv") };
	await refused(reading(pattern, twice), "p8.csv is given twice");
	await refused(reading(join(folder, "y*.csv")), "no file matches");
	await refused(reading(join(folder, "y.csv")), "no such file");
	await refused(reading([]), "no file was given");
});

test("reports the right row after quoted line ends and among many rows", async () => {
	const rows = Array.from({ length: 5000 }, (_, i) => `p${i},2020-01-01,"${i}\n"\n`);
	rows[4321] = "p,soon,1\n";
	const folder = await folderOf({ "a.csv": `patient,date,icd9\n${rows.join("")}` });
	await refused(openCsv(folder).then(load), 'a.csv: line 8644: date is "soon"');
});

describe("whatever the content, a file is read or refused", () => {
	test("damaged Parquet", async () => {
		const folder = await folderOf({
			"good.parquet":
				"SELECT 'p' || i AS patient, DATE '2020-01-01' + i::INT AS date, 'c' || i AS icd9 FROM range(50) t(i)",
		});
		const bytes = await readFile(join(folder, "good.parquet"));
		let number = 0;
		const attempt = async (content: Uint8Array) => {
			const file = join(folder, `${number++}.parquet`); // DuckDB keeps what it knows of a path
			await writeFile(file, content);
			await load(await openParquetRecords(file));
		};
		await refused(attempt(new Uint8Array()), "is not a Parquet file");
		await refused(attempt(bytes.subarray(0, 4)), "corrupt or incomplete");
		await refused(attempt(bytes.subarray(0, -9)), "corrupt or incomplete");
		const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
		await fc.assert(
			fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
				const changed = Uint8Array.from(bytes);
				for (const [at, byte] of changes) changed[at] = byte;
				await attempt(changed).catch((error) => expect(error).toBeInstanceOf(InputError));
			}),
			{ numRuns: 20 },
		);
	});

	test("text", async () => {
		const words = "a,,NULL,2020-01-01,20200101,1e9,-infinity,epoch,9,\0,é".split(",");
		const cell = fc.oneof(
			fc.constantFrom(...words),
			fc.string({ maxLength: 12 }).map((text) => `"${text.replaceAll('"', '""')}"`),
		);
		const names = "patient date code system kind value age_days icd9 id".split(" ");
		const table = fc
			.uniqueArray(fc.constantFrom(...names), { minLength: 2, maxLength: 6 })
			.chain((header) => {
				const row = fc.array(cell, { minLength: header.length, maxLength: header.length });
				const rows = fc.array(row, { maxLength: 4 });
				return rows.map((rows) => [header, ...rows].map((row) => row.join(",")).join("\n"));
			});
		const options = fc.record(
			{
				timeIs: fc.constantFrom("date", "age-days", "age-years", "days"),
				system: fc.constantFrom("icd9", "system", "kind"),
				value: fc.constant("value"),
				withPeople: fc.boolean(),
			} as const,
			{ requiredKeys: [] },
		);
		await fc.assert(
			fc.asyncProperty(table, table, options, async (main, other, { withPeople, ...options }) => {
				const folder = await folderOf({ "a.csv": main, "p.csv": other });
				const file = join(folder, "p.csv");
				const more = withPeople ? { people: file } : { drugsFile: file };
				const work = openCsv(join(folder, "a.csv"), { ...(options as TableOptions), ...more });
				await work.then(load).catch((error) => expect(error).toBeInstanceOf(InputError));
			}),
			{ numRuns: 30 },
		);
	});
});
