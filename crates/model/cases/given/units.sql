REGISTER STORAGE UNIT ds_0(HOST='db0', PORT=3306, DB='shop_0', USER='me', PASSWORD='hush'), ds_1(HOST='db1', PORT=3306, DB='shop_1', USER='me', PASSWORD='hush')
